export declare function whileLocked<T>(
  folder: string,
  options: { readonly waiting: (owner: number) => void },
  action: (share: (pid: number) => void) => T | Promise<T>,
): Promise<T>;
