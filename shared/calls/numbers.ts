/** Telephone numbers as people write them, and as records have them. Pure. */

const written = /^[+\d\s().\u2010-\u2015/-]+$/;

/** All ways in which a record may have a number: an erasure must not miss one for a blank in it. */
export function numberForms(number: string): readonly string[] {
  const digits = number.replace(/\D/g, '').replace(/^00/, '');
  if (digits === '' || !written.test(number)) return [number];
  return [...new Set([number, digits, `+${digits}`, `00${digits}`])];
}
