/**
 * The texts that the engine brings along, by language: what it says when the agent file does not say it, and the words
 * by which it understands a yes and a no. Every text can be replaced in the agent file, which is how other languages get
 * theirs. Nothing here is a prompt, and no text holds a word of the caller.
 */

import { listed } from '../../base/listed.ts';

export interface BuiltInTexts {
  /** Spoken while a tool takes long, one after another. */
  readonly fillers: readonly string[];
  /** Spoken when an answer could not be made. */
  readonly apology: string;
  /** Spoken to a caller of whose words STT has told none. */
  readonly misheard: string;
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
  /** The user note of a completed entry of keys, with `{digits}` (docs/reference/agent-file.md, `[telephony.dtmf]`). */
  readonly keysNote: string;
  /** Spoken to a caller whom nobody took over. */
  readonly returnLine: string;
}

const english: BuiltInTexts = {
  fillers: ['One moment.', 'Let me check.', 'Just a second.', 'Bear with me.'],
  apology: 'Sorry, something went wrong on my side. Could you say that again?',
  misheard: 'Sorry, I did not catch that. Could you say it again?',
  farewell: 'Goodbye.',
  hold: 'I am still having trouble. Please stay on the line.',
  back: 'Thank you for waiting.',
  unheardNote: '[The caller has not heard your answer. Give it now.]',
  announcement: 'Sorry, something went wrong. Please wait, or call again later.',
  idleQuestion: 'Are you still there?',
  confirmQuestion: 'Shall I go ahead with that?',
  yes: listed(
    'yes|yeah|yep|yup|sure|okay|ok|please do|go ahead|do it|correct|of course|certainly|absolutely',
    "definitely|that's right|that is right|right|fine|confirm|confirmed|i confirm|sounds good",
  ),
  no: listed(
    "no|nope|nah|not|don't|do not|stop|cancel|wait|never|wrong|that's wrong|leave it|hold on",
    'forget it|never mind',
  ),
  keysNote: '[The caller pressed the keys: {digits}]',
  returnLine: 'Sorry, nobody could take your call. How else can I help?',
};

const turkish: BuiltInTexts = {
  fillers: ['Bir saniye lütfen.', 'Hemen bakıyorum.', 'Kontrol ediyorum.', 'Biraz daha bekleteceğim.'],
  apology: 'Özür dilerim, bir sorun oluştu. Tekrar söyler misiniz?',
  misheard: 'Özür dilerim, anlayamadım. Tekrar söyler misiniz?',
  farewell: 'Hoşça kalın.',
  hold: 'Sorun hâlâ sürüyor. Lütfen hatta kalın.',
  back: 'Beklediğiniz için teşekkür ederim.',
  unheardNote: '[Arayan yanıtınızı duymadı. Şimdi verin.]',
  announcement: '',
  idleQuestion: 'Hâlâ orada mısınız?',
  confirmQuestion: 'Bunu yapmamı onaylıyor musunuz?',
  yes: listed(
    'evet|tamam|olur|tabii|tabi|elbette|onaylıyorum|onay|doğru|peki|yapın|yap|devam edin|devam et',
    'lütfen yapın|kesinlikle|uygun|aynen',
  ),
  no: listed(
    'hayır|yok|olmaz|istemiyorum|yapma|yapmayın|dur|durun|bekle|bekleyin|iptal|vazgeç|vazgeçtim',
    'yanlış|onaylamıyorum|değil|gerek yok|boş ver',
  ),
  keysNote: '[Arayan şu tuşlara bastı: {digits}]',
  returnLine: 'Üzgünüm, şu anda kimse yanıt veremedi. Başka nasıl yardımcı olabilirim?',
};

const german: BuiltInTexts = {
  fillers: [
    'Einen Moment bitte.',
    'Ich sehe gleich nach.',
    'Einen Augenblick noch.',
    'Ich bin gleich so weit.',
  ],
  apology: 'Entschuldigung, da ist bei mir etwas schiefgegangen. Können Sie das bitte wiederholen?',
  misheard: 'Entschuldigung, das habe ich nicht verstanden. Können Sie das bitte wiederholen?',
  farewell: 'Auf Wiederhören.',
  hold: 'Es klappt leider noch nicht. Bitte bleiben Sie dran.',
  back: 'Danke, dass Sie gewartet haben.',
  unheardNote: '[Der Anrufer hat Ihre Antwort nicht gehört. Geben Sie sie jetzt.]',
  announcement: '',
  idleQuestion: 'Sind Sie noch da?',
  confirmQuestion: 'Soll ich das so machen?',
  yes: listed(
    'ja|jawohl|jo|gerne|gern|okay|ok|klar|na klar|natürlich|sicher|genau|richtig|stimmt|korrekt',
    'einverstanden|in ordnung|alles klar|passt|auf jeden fall|machen sie das|mach das|ich bestätige',
    'bestätigt',
  ),
  no: listed(
    'nein|nee|nö|nicht|nie|niemals|kein|keine|keinen|stopp|stop|halt|abbrechen|warte|warten|moment',
    'falsch|lassen sie|lass|vergiss es|vergessen sie',
  ),
  keysNote: '[Der Anrufer hat diese Tasten gedrückt: {digits}]',
  returnLine: 'Leider konnte niemand Ihren Anruf annehmen. Wie kann ich Ihnen sonst helfen?',
};

const spanish: BuiltInTexts = {
  fillers: ['Un momento, por favor.', 'Déjeme comprobarlo.', 'Un segundo más.', 'Enseguida estoy con usted.'],
  apology: 'Disculpe, algo ha fallado. ¿Puede repetirlo, por favor?',
  misheard: 'Disculpe, no le he entendido. ¿Puede repetirlo, por favor?',
  farewell: 'Adiós.',
  hold: 'Sigo teniendo problemas. No cuelgue, por favor.',
  back: 'Gracias por esperar.',
  unheardNote: '[La persona que llama no ha oído su respuesta. Désela ahora.]',
  announcement: '',
  idleQuestion: '¿Sigue ahí?',
  confirmQuestion: '¿Quiere que lo haga?',
  yes: listed(
    'sí|claro|claro que sí|vale|de acuerdo|okay|ok|por supuesto|desde luego|correcto|exacto|adelante',
    'hágalo|hazlo|confirmo|perfecto|está bien|así es|dale',
  ),
  no: listed(
    'no|nunca|jamás|pare|espere|espera|cancele|cancela|cancelar|detente|incorrecto|déjelo|déjalo',
    'olvídelo|olvídalo|tampoco|un momento',
  ),
  keysNote: '[La persona que llama ha pulsado las teclas: {digits}]',
  returnLine: 'Lo siento, nadie ha podido atender su llamada. ¿En qué más puedo ayudarle?',
};

const french: BuiltInTexts = {
  fillers: [
    "Un instant, s'il vous plaît.",
    'Je vérifie.',
    'Encore une petite seconde.',
    'Je suis à vous tout de suite.',
  ],
  apology: "Excusez-moi, un problème est survenu. Pouvez-vous répéter, s'il vous plaît ?",
  misheard: "Excusez-moi, je n'ai pas compris. Pouvez-vous répéter, s'il vous plaît ?",
  farewell: 'Au revoir.',
  hold: "Le problème n'est pas résolu. Restez en ligne, s'il vous plaît.",
  back: "Merci d'avoir patienté.",
  unheardNote: "[La personne qui appelle n'a pas entendu votre réponse. Donnez-la maintenant.]",
  announcement: '',
  idleQuestion: 'Êtes-vous toujours là ?',
  confirmQuestion: 'Souhaitez-vous que je le fasse ?',
  yes: listed(
    "oui|ouais|bien sûr|d'accord|okay|ok|tout à fait|exactement|exact|absolument|allez-y|vas-y",
    "c'est ça|c'est bon|parfait|entendu|volontiers|certainement|ça marche|je confirme|faites-le",
  ),
  no: listed(
    'non|pas|jamais|arrêtez|arrête|stop|attendez|attends|annulez|annule|faux|laissez|laisse|aucun',
    'aucune|un instant|un moment',
  ),
  keysNote: '[La personne qui appelle a appuyé sur les touches : {digits}]',
  returnLine: "Désolé, personne n'a pu prendre votre appel. Que puis-je faire d'autre pour vous ?",
};

/** By primary subtag. */
const byLanguage: Readonly<Record<string, BuiltInTexts>> = {
  en: english,
  tr: turkish,
  de: german,
  es: spanish,
  fr: french,
};

const primarySubtag = (language: string): string => language.split('-', 1)[0]?.toLowerCase() ?? '';

/** The engine brings texts in this language; for others the English ones stand in. */
export const hasBuiltInTexts = (language: string): boolean =>
  Object.hasOwn(byLanguage, primarySubtag(language));

/** The texts for a BCP 47 tag such as `tr-TR`. `several`: callers may say yes and no in another language. */
export function builtInTexts(language: string, { several = false } = {}): BuiltInTexts {
  const primary = primarySubtag(language);
  const own = Object.hasOwn(byLanguage, primary) ? (byLanguage[primary] ?? english) : english;
  if (!several) return own;
  const all = [own, ...Object.values(byLanguage)];
  const union = (which: 'yes' | 'no'): string[] => [...new Set(all.flatMap((texts) => texts[which]))];
  return { ...own, yes: union('yes'), no: union('no') };
}

/** What the recording says that ships for a language; empty where the signal without words stands in for it. */
export const shippedAnnouncement = (language: string): string =>
  hasBuiltInTexts(language) ? builtInTexts(language).announcement : '';
