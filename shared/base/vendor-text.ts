/**
 * What may be shown of a text that somebody else's server wrote: shortened, on one line, without anything that is or looks
 * like a key. Pure.
 */

const longestText = 240;
/** What is looked at of a text; a key that the cut goes through would not be known any more. */
const longestRead = 4_096;
const hidden = '[hidden]';

/** A secret shorter than this stands in ordinary words. */
const shortestSecret = 4;

const looksLikeKey: readonly RegExp[] = [
  // Shown in part by the vendor itself.
  /[^\s"'`(]*\*{3,}[^\s"'`)]*/g,
  /\b(?:AIza|eyJ|ya29\.)[\w.-]{8,}/g,
  /\b(?:sk|pk|rk|gsk|csk|xai|hf)[-_][\w.-]{6,}/gi,
  /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi,
  /[\w+/=-]*(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{12,}[\w+/=-]*/g,
  /[A-Za-z\d+/=]{32,}/g,
];

/** The text without known secrets, without parts of them, and without what looks like one. */
export function withoutKeys(text: string, secrets: readonly string[] = []): string {
  let shown = text;
  for (const secret of secrets)
    if (secret.length >= shortestSecret) {
      for (const form of [secret, encodeURIComponent(secret)]) shown = shown.replaceAll(form, hidden);
    }
  shown = shown
    .replace(/\/\/[^\s/@]+@/g, `//${hidden}@`)
    .replace(/\b(bearer|basic|token)(\s+)(?=\S*[\d_-])[^\s"']{6,}/gi, `$1$2${hidden}`)
    .replace(
      /([?&\s"'](?:api_?key|key|token|access_token|secret|password|signature)["']?\s?[=:]\s?["']?)[^&\s"',}]+/gi,
      `$1${hidden}`,
    );
  for (const pattern of looksLikeKey) shown = shown.replace(pattern, hidden);
  return shown.replace(/[^\s"'`()]+/g, (word) => (isPartOf(secrets, word) ? hidden : word));
}

/** The first or the last characters of a secret, which vendors like to repeat. */
function isPartOf(secrets: readonly string[], word: string): boolean {
  const bare = word.replace(/^[.…]+|[.,…:;]+$/g, '');
  return (
    bare.length >= shortestSecret &&
    secrets.some(
      (secret) => secret.length > bare.length && (secret.startsWith(bare) || secret.endsWith(bare)),
    )
  );
}

/** On one line and shortened. */
export function shortened(text: string): string {
  const line = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length > longestText ? `${line.slice(0, longestText - 1)}…` : line;
}

/** What is shown of a vendor's text. */
export const shownVendorText = (text: string, secrets: readonly string[] = []): string =>
  shortened(withoutKeys(text.slice(0, longestRead), secrets));

/** Vendors' codes are identifiers; anything else is not shown. */
export function shownCode(code: string, secrets: readonly string[] = []): string | undefined {
  if (!/^[A-Za-z\d][\w.:-]{0,63}$/.test(code)) return undefined;
  return withoutKeys(code, secrets) === code ? code : undefined;
}
