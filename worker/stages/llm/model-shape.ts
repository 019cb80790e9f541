/** What the templates of some models want of a history beyond what all want, in whichever interface they are served: only their names tell. Pure. */

export interface ModelShape {
  /** An answer calls one tool after the other. */
  readonly callsOneByOne: boolean;
  /** A message has words or calls, and never both. */
  readonly callsAlone: boolean;
  /** It knows no system message: what it says stands in front of the user's first words. */
  readonly isSystemless: boolean;
}

export const shapeOf = (model: string): ModelShape => ({
  callsOneByOne: /llama[-_.]?v?3|gpt-oss/i.test(model),
  // Mistral's models up to the end of 2024, where its own tokenizer checks what they are sent.
  callsAlone: /(?:mi[sx]|code?s)tral-(?:8x)?\d+b|mistral-nemo|(?:mis|minis|pix)tral\b.*-24(?:0\d|10)\b/i.test(
    model,
  ),
  isSystemless: /gemma-(?:1\.1|2|[27]b)|mi(?:s|x)tral-(?:8x)?7b-instruct-v0\.[12]/i.test(model),
});
