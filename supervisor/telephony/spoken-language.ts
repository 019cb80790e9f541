/**
 * In which language a carrier reads a text out. Agent files and requests name one by any tag (`en`, `de-AT`); a carrier takes its own tags
 * alone, and says nothing, or refuses, where it is given another.
 */

/** Of several for a language the first is meant where no region is named, or one that the carrier does not have. */
export const languagesOfA = [
  ...(['en-US', 'en-AU', 'en-CA', 'en-GB', 'en-GB-WLS', 'en-IE', 'en-IN', 'en-NZ', 'en-ZA'] as const),
  ...(['es-ES', 'es-MX', 'es-US', 'fr-FR', 'fr-BE', 'fr-CA', 'de-DE', 'de-AT', 'pt-BR', 'pt-PT'] as const),
  ...(['nl-NL', 'nl-BE', 'cmn-CN', 'cmn-TW', 'zh-CN', 'zh-HK', 'zh-TW', 'yue-HK', 'arb', 'ar-AE'] as const),
  ...(['af-ZA', 'am-ET', 'bg-BG', 'bn-IN', 'ca-ES', 'cs-CZ', 'cy-GB', 'da-DK', 'el-GR', 'fi-FI'] as const),
  ...(['fil-PH', 'gu-IN', 'he-IL', 'hi-IN', 'hu-HU', 'id-ID', 'is-IS', 'it-IT', 'ja-JP', 'kn-IN'] as const),
  ...(['ko-KR', 'lv-LV', 'ml-IN', 'mr-IN', 'ms-MY', 'nb-NO', 'pa-IN', 'pl-PL', 'ro-RO', 'ru-RU'] as const),
  ...(['sk-SK', 'sr-RS', 'sv-SE', 'ta-IN', 'te-IN', 'th-TH', 'tr-TR', 'uk-UA', 'vi-VN'] as const),
] as const;

export const languagesOfB = [
  ...([
    'en-US',
    'en-AU',
    'en-GB',
    'en-GB-WLS',
    'en-IN',
    'es-ES',
    'es-MX',
    'es-US',
    'fr-FR',
    'fr-CA',
  ] as const),
  ...([
    'pt-BR',
    'pt-PT',
    'arb',
    'cmn-CN',
    'cy-GB',
    'da-DK',
    'de-DE',
    'hi-IN',
    'is-IS',
    'it-IT',
    'ja-JP',
  ] as const),
  ...(['ko-KR', 'nb-NO', 'nl-NL', 'pl-PL', 'ro-RO', 'ru-RU', 'sv-SE', 'tr-TR'] as const),
] as const;

/** By what carriers call a language that everybody else calls otherwise. */
const carriersName: Readonly<Record<string, string>> = { zh: 'cmn', ar: 'arb', no: 'nb', tl: 'fil' };

const primaryOf = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? '';

/** The carrier's tag for a language; undefined where it does not speak it. */
export function spokenLanguage<Tag extends string>(asked: string, offered: readonly Tag[]): Tag | undefined {
  const exact = offered.find((tag) => tag.toLowerCase() === asked.toLowerCase());
  const primary = primaryOf(asked);
  const name = carriersName[primary] ?? primary;
  return (
    exact ??
    offered.find((tag) => primaryOf(tag) === name) ??
    offered.find((tag) => primaryOf(tag) === primary)
  );
}
