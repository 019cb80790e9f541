/** Gives the operator a file. */
export function save(name: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^A-Za-z0-9._-]/g, '_');
  link.click();
  URL.revokeObjectURL(url);
}
