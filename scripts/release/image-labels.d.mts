export function imageLabels(of: {
  readonly commit: string;
  readonly created: string;
}): (readonly [string, string])[];
