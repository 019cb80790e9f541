/**
 * Words of listening by language: what callers say to show that they follow. They are words only; sounds ("mm-hmm", "uh-huh") are told
 * from words in every language by the core (`worker/core/turn/backchannels.ts`), which also takes other spellings of what stands here.
 */

const english = [
  'okay|ok|kay|mkay|mmkay|right|yeah|yea|ya|yah|yep|yup|yes|sure|sure thing|alright|all right|i see|got it|gotcha',
  "i got it|i hear you|i understand|understood|of course|makes sense|that makes sense|sounds good|fair enough|that's right|that's true",
  'exactly|absolutely|definitely|certainly|great|good|cool|nice|perfect|fine|true|very good|wow|go on|go ahead',
  'no problem|no worries|not bad',
];

const turkish = [
  'tamam|tamamdır|evet|anladım|anlıyorum|peki|tabii|tabi|tabii ki|olur|doğru|aynen|aynen öyle|öyle|güzel|iyi|he|ha|hah',
  'ok|okey|okay|eyvallah|elbette|kesinlikle|harika|süper|sorun değil|sorun yok|ne güzel',
];

const german = [
  'ja|jo|jep|jup|jawohl|okay|ok|genau|klar|alles klar|na klar|verstehe|ich verstehe|verstanden|gut|sehr gut|richtig',
  'stimmt|ach so|achso|natürlich|sicher|in ordnung|passt|super|prima|eben|gerne|jaja|na gut',
  'kein problem|nicht schlecht',
];

const spanish = [
  'sí|ya|ok|okey|okay|vale|claro|claro que sí|ya veo|entiendo|entendido|comprendo|de acuerdo|bien|muy bien|bueno',
  'perfecto|exacto|así es|correcto|dale|listo|genial|por supuesto|desde luego|está bien|eso es',
  'no hay problema|no pasa nada|qué bien|cómo no',
];

const french = [
  "oui|ouais|ouaip|mouais|ok|okay|d'accord|d'acc|je vois|je comprends|compris|bien|très bien|bien sûr|exact|exactement",
  "tout à fait|voilà|ça marche|entendu|parfait|super|ah bon|bon|certes|en effet|absolument|c'est ça|c'est vrai",
  'pas de problème|pas de souci|pas mal',
];

const byLanguage: Readonly<Record<string, readonly string[]>> = {
  en: english,
  tr: turkish,
  de: german,
  es: spanish,
  fr: french,
};

/**
 * For a BCP 47 tag such as `tr-TR`; a language without a list of its own has the English words, which many borrow. With `several` callers
 * may speak any language, and all lists hold.
 */
export function backchannelsOf(language: string, { several = false } = {}): readonly string[] {
  const primary = language.split('-', 1)[0]?.toLowerCase() ?? '';
  const own = Object.hasOwn(byLanguage, primary) ? (byLanguage[primary] ?? english) : english;
  const lines = several ? Object.values(byLanguage).flat() : own;
  return [...new Set(lines.flatMap((line) => line.split('|')))];
}
