/**
 * The texts that the engine brings along, by language: what it says when the agent file does not say it, and the words
 * by which it understands a yes and a no. Every text can be replaced in the agent file, which is how other languages get
 * theirs. Nothing here is a prompt, and no text holds a word of the caller.
 */

export interface BuiltInTexts {
  /** Spoken while a tool takes long, one after another. */
  readonly fillers: readonly string[];
  /** Spoken when an answer could not be made. */
  readonly apology: string;
  readonly farewell: string;
  /** Said when an answer that was tried again could not be made either, and in front of the one that could. */
  readonly hold: string;
  readonly back: string;
  /** The user note that asks the LLM for an answer of which the caller heard nothing. */
  readonly unheardNote: string;
  /** What the recording says that ships for the language; empty: none does, and callers hear a signal without words. */
  readonly announcement: string;
  /** Asked when nobody has spoken for a while. */
  readonly idleQuestion: string;
  /** Asked before a tool that needs the caller's word is run. */
  readonly confirmQuestion: string;
  /** Whole answers or first words that mean yes, in lower case without punctuation. */
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** The user note of a completed entry of keys, with `{digits}` (spec 03, DTMF collection). */
  readonly keysNote: string;
  /** Spoken to a caller whom nobody took over. */
  readonly returnLine: string;
}

const english: BuiltInTexts = {
  fillers: ['One moment.', 'Let me check.', 'Just a second.', 'Bear with me.'],
  apology: 'Sorry, something went wrong on my side. Could you say that again?',
  farewell: 'Goodbye.',
  hold: 'I am still having trouble. Please stay on the line.',
  back: 'Thank you for waiting.',
  unheardNote: '[The caller has not heard your answer. Give it now.]',
  announcement: 'Sorry, something went wrong. Please wait, or call again later.',
  idleQuestion: 'Are you still there?',
  confirmQuestion: 'Shall I go ahead with that?',
  yes: [
    ...['yes', 'yeah', 'yep', 'yup', 'sure', 'okay', 'ok', 'please do', 'go ahead', 'do it', 'correct'],
    ...[
      'of course',
      'certainly',
      'absolutely',
      'definitely',
      "that's right",
      'that is right',
      'right',
      'fine',
    ],
    ...['confirm', 'confirmed', 'i confirm', 'sounds good'],
  ],
  no: [
    ...['no', 'nope', 'nah', 'not', "don't", 'do not', 'stop', 'cancel', 'wait', 'never', 'wrong'],
    ...["that's wrong", 'leave it', 'hold on', 'forget it', 'never mind'],
  ],
  keysNote: '[The caller pressed the keys: {digits}]',
  returnLine: 'Sorry, nobody could take your call. How else can I help?',
};

const turkish: BuiltInTexts = {
  fillers: ['Bir saniye lütfen.', 'Hemen bakıyorum.', 'Kontrol ediyorum.', 'Biraz daha bekleteceğim.'],
  apology: 'Özür dilerim, bir sorun oluştu. Tekrar söyler misiniz?',
  farewell: 'Hoşça kalın.',
  hold: 'Sorun hâlâ sürüyor. Lütfen hatta kalın.',
  back: 'Beklediğiniz için teşekkür ederim.',
  unheardNote: '[Arayan yanıtınızı duymadı. Şimdi verin.]',
  announcement: '',
  idleQuestion: 'Hâlâ orada mısınız?',
  confirmQuestion: 'Bunu yapmamı onaylıyor musunuz?',
  yes: [
    ...['evet', 'tamam', 'olur', 'tabii', 'tabi', 'elbette', 'onaylıyorum', 'onay', 'doğru', 'peki'],
    ...['yapın', 'yap', 'devam edin', 'devam et', 'lütfen yapın', 'kesinlikle', 'uygun', 'aynen'],
  ],
  no: [
    ...['hayır', 'yok', 'olmaz', 'istemiyorum', 'yapma', 'yapmayın', 'dur', 'durun', 'bekle', 'bekleyin'],
    ...['iptal', 'vazgeç', 'vazgeçtim', 'yanlış', 'onaylamıyorum', 'değil', 'gerek yok', 'boş ver'],
  ],
  keysNote: '[Arayan şu tuşlara bastı: {digits}]',
  returnLine: 'Üzgünüm, şu anda kimse yanıt veremedi. Başka nasıl yardımcı olabilirim?',
};

/** By primary subtag. */
const byLanguage: Readonly<Record<string, BuiltInTexts>> = { en: english, tr: turkish };

const primarySubtag = (language: string): string => language.split('-', 1)[0]?.toLowerCase() ?? '';

/** The engine brings texts in this language; for others the English ones stand in. */
export const hasBuiltInTexts = (language: string): boolean =>
  Object.hasOwn(byLanguage, primarySubtag(language));

/** The texts for a BCP 47 tag such as `tr-TR`. */
export function builtInTexts(language: string): BuiltInTexts {
  const primary = primarySubtag(language);
  return Object.hasOwn(byLanguage, primary) ? (byLanguage[primary] ?? english) : english;
}

/** What the recording says that ships for a language; empty where the signal without words stands in for it. */
export const shippedAnnouncement = (language: string): string =>
  hasBuiltInTexts(language) ? builtInTexts(language).announcement : '';
