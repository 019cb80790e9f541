/**
 * What may be shown of a text that somebody else's server wrote: shortened, on one line, without anything that is or looks
 * like a key, and, where the server had been given something of a caller, without any word that could be the caller's. Pure.
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

export interface ShownRules {
  readonly secrets?: readonly string[] | undefined;
  /** Names of the configuration, which may be repeated: model, voice. */
  readonly names?: readonly string[] | undefined;
  /** The server had been given something that a caller said, or that a tool knows of one. */
  readonly mayQuote: boolean;
}

/** What is shown of a vendor's text; empty when nothing of it may be. */
export function shownVendorText(text: string, { secrets, names, mayQuote }: ShownRules): string {
  const safe = withoutKeys(text.slice(0, longestRead), secrets);
  return shortened(mayQuote ? onlyErrorWords(safe, names ?? []) : safe);
}

/** Vendors' codes are identifiers; anything else is not shown. */
export function shownCode(code: string, secrets: readonly string[] = []): string | undefined {
  if (!/^[A-Za-z\d][\w.:-]{0,63}$/.test(code)) return undefined;
  return withoutKeys(code, secrets) === code ? code : undefined;
}

/**
 * The words that errors are made of, and those of `names`; every other word and every number becomes an ellipsis. What a server
 * quotes of a conversation can thus not be told from what it leaves out.
 */
function onlyErrorWords(text: string, names: readonly string[]): string {
  let rest = text;
  const kept: string[] = [];
  for (const name of names.toSorted((a, b) => b.length - a.length)) {
    if (name.length < 3) continue;
    rest = rest.replaceAll(name, () => `\u0001${kept.push(name) - 1}\u0001`);
  }
  const words = rest.replace(
    /\u0001(\d+)\u0001|[\p{L}\p{N}\p{M}]+/gu,
    (word: string, at: string | undefined) => {
      if (at !== undefined) return kept[Number(at)] ?? '…';
      return word === 'hidden' || errorWords.has(word.toLowerCase()) ? word : '…';
    },
  );
  return words
    .split(/(?<=[.!?:;])\s+/)
    .map((sentence) => (isMostlyGone(sentence) ? '…' : sentence))
    .join(' ')
    .replace(/…(?:[^\p{L}\p{N}[]*…)+/gu, '…')
    .replace(/^[…\s]+$/, '');
}

/** What is left of a sentence makes no sense. */
function isMostlyGone(sentence: string): boolean {
  const gone = sentence.split('…').length - 1;
  return gone > 0 && gone >= (sentence.match(/[\p{L}\p{N}_-]+/gu) ?? []).length;
}

const errorWords: ReadonlySet<string> = new Set(
  (
    'a about above access account active after again allowed already also an and any api are argument arguments array as at ' +
    'audio authenticate authenticated authentication authorization authorized available back bad balance be because been ' +
    'before below between billing body boolean busy but by bytes can cannot capacity change characters check choose chunk ' +
    'client closed completion completions concurrency concurrent concurrently configuration configured connection contact ' +
    'contain contains content context contexts could credentials credit credits currently day deactivated default deleted ' +
    'demand deprecated did disabled disconnected do documentation does doesn don due duration each element email empty ' +
    'enable enabled encoding end endpoint engine enough error errors exceed exceeded exceeds exist existing exists expected ' +
    'expired extra failed field fields first for forbidden format found free from function functions gateway generate ' +
    'generation get given got has have header headers help high higher hour idle if in inactive inactivity incorrect input ' +
    'insufficient integer internal into invalid is it its json key keys language large last later length less level license ' +
    'limit limited limits list load loaded loading log long longer lower made max maximum may message messages method min ' +
    'minimum minute missing model models more must name need needed needs negative network no non none not null number ' +
    'object of off on one only open or order organization origin our out over overloaded own parameter parameters parse ' +
    'part path pay payload payment per permission permissions plan please policy port prefix processing project prompt ' +
    'property provide provided provider pull pulling purchase queue quota rate rates reached read received refused region ' +
    'rejected replace request requested requests required requires resource response restricted result retry role sample ' +
    'schema second seconds seems see send sent server service session settings should size slow small socket soon speech ' +
    'status stream streaming string subscription such support supported switch system team temporarily temporary text than ' +
    'that the their them there these they this throttled tier time timed timeout to token tokens too tool tools top ' +
    'transcription try type unable unauthorized unavailable unexpected unknown unprocessable unrecognized unsupported until ' +
    'up upgrade upstream url usage use used user uses using valid validation value values verified verify version via visit ' +
    'voice voices wait was we were when which while wait will with within without workspace wrong you your'
  ).split(' '),
);
