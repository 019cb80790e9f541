/**
 * The first answer of a server of which nobody knows yet whether it leaves thoughts in the text. A sentence that speaks about the user, as
 * thoughts do and speech does not, is held back with all that follows it, until the thoughts end or the answer does. Sentences that begin as
 * no thought does are given on as they come. Pure.
 */

/** How thoughts begin, in lower case. */
const openings =
  "ok|okay|alright|all right|hm|hmm|so|let me|let's|first|the user|the caller|the customer|the human|the person|this user|user|we need|we should|we have|we must|i need|i should|i must|i have to|i'll|got it|looking at|they|this is|based on|given|der nutzer|der benutzer|der anrufer|der kunde|l'utilisateur|el usuario|l'utente|o usuário|de gebruiker|użytkownik|kullanıcı|用户|好的|嗯|ユーザー".split(
    '|',
  );

const verbs =
  "'s|is|was|has|had|just|want|ask|say|said|need|seem|mention|greet|might|may|would|could|did|does|didn't|doesn't|give|gave|provide|request|wrote|told|tell";
const aboutUser = new RegExp(
  [
    String.raw`\b(?:the|this) (?:user|caller|customer|human|person) ?(?:${verbs})`,
    String.raw`\buser (?:${verbs})`,
    String.raw`\b(?:i|we) (?:need to|should|must|have to) (?:respond|reply|answer|greet|acknowledge|call the|use the)`,
    String.raw`\bder (?:be)?nutzer\b|\bder (?:anrufer|kunde) (?:möchte|will|fragt|sagt|hat|ist)\b`,
    String.raw`l'utilisateur|\b(?:el|al) usuario\b|l'utente|\bo usuário\b|\bde gebruiker\b|użytkownik|kullanıcı|用户|ユーザー`,
  ].join('|'),
  'iu',
);

/** A sentence that is longer is judged as far as it is there. */
const longestSentence = 240;

export class Doubt {
  #held = '';
  /** The present sentence is none about the user. */
  #isFree = false;
  #isThought = false;
  /** The last character that was given on; empty where nothing was. */
  last = '';

  /** What may be given on by now. */
  push(text: string): string {
    this.#held += text;
    let out = '';
    while (!this.#isThought && this.#held !== '') {
      const end = endOfSentence(this.#held);
      const sentence = this.#held.slice(0, end);
      if (!this.#isFree && mayBeThought(sentence)) {
        if (end === undefined && sentence.length < longestSentence) break;
        if (aboutUser.test(sentence)) {
          this.#isThought = true;
          break;
        }
      }
      this.#isFree = end === undefined;
      out += sentence;
      this.#held = this.#held.slice(sentence.length);
    }
    this.last = out.at(-1) ?? this.last;
    return out;
  }

  /** All that is left: it was no thought, unless an answer that was `cut` has lost the end of one. */
  end({ cut }: { readonly cut: boolean }): string {
    const rest = this.#held;
    this.#held = '';
    const isThought = this.#isThought || (!this.#isFree && mayBeThought(rest) && aboutUser.test(rest));
    return cut && isThought ? '' : rest;
  }
}

/** Where the first sentence is over; undefined where it may go on. */
function endOfSentence(text: string): number | undefined {
  const found = /[.!?…]["'”)]*\s+|[。！？\n]\s*/u.exec(text);
  return found === null ? undefined : found.index + found[0].length;
}

function mayBeThought(sentence: string): boolean {
  const start = sentence
    .replace(/^[\s"'*_#>-]+/u, '')
    .replaceAll('’', "'")
    .toLowerCase();
  return openings.some((one) => one.startsWith(start) || start.startsWith(one));
}
