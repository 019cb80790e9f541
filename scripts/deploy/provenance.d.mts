export function provenance(
  root: string,
  given: { readonly commit: string; readonly files: readonly string[]; readonly epoch: string },
): object;
