export const repeating: readonly string[];
export function versionsIn(root: string, path: string): string[];
export function setVersion(root: string, version: string): void;
