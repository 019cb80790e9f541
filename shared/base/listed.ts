/** Words and phrases that are written down in lines, with a bar between them. */
export const listed = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split('|'));

/** Single words that are written down in lines, with a blank between them. */
export const spaced = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split(' '));
