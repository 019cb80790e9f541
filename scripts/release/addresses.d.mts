export const repeatingAddresses: readonly string[];
export function homeOf(checkout: string): string;
export function moved(text: string, from: string, to: string): string;
export function addressFault(home: string, written: string): string | undefined;
export function imageOf(home: string): string;
