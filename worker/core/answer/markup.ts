/**
 * What models write for the eye: Markdown and emoji. A voice reads them out ("asterisk asterisk"), so they are left out on the way to TTS;
 * the words between them stay, and so does every sign that may be meant, such as the keys in "press * or #". It sees one piece of an answer
 * at a time, so pairs that a cut has parted are taken one by one where that is safe.
 */

const fence = /```[\w+#-]*(?=[ \t]*(?:\n|$))|```/g;
const rule = /^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/gm;
const tableRule = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$/gm;
const tableRow = /^[ \t]*\|(.+?)\|?[ \t]*$/gm;
/** A heading, a quotation, a bullet, a box to tick: all at the beginning of a line. */
const lineStart = /^([ \t]*)(?:(?:#{1,6}|>|[-*+•](?:[ \t]+\[[ xX]\])?)[ \t]+)+/gm;
const link = /!?\[([^[\]\n]*)\]\((?:https?:|mailto:|tel:|\/|#)[^()\s]*\)/g;
const strong =
  /(?<![*\d])\*{2,3}(?=[^\s*\d])|(?<=[^\s*])\*{2,3}(?!\*)|(?<![\p{L}\p{N}_])__(?=[^\s_])|(?<=[^\s_])__(?![\p{L}\p{N}_])|~~/gu;
const emphasis = /(?<![\p{L}\p{N}*_])([*_])(?=\S)([^*_\n]*\p{L}[^*_\n]*)(?<=\S)\1(?![\p{L}\p{N}*_])/gu;
const emoji =
  /(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F)(?:\p{Emoji_Modifier}|\uFE0F|\u200D(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}))*/gu;
/** What is left of the blanks around an emoji. */
const gap = /(?<=\S)[ \t]{2,}(?=\S)/g;

/** The text as it is to be said; without anything to say it is empty. */
export function withoutMarkup(text: string): string {
  if (!/[*_`#>|~[•+-]|\p{Emoji_Presentation}|\uFE0F/u.test(text)) return text;
  const said = text
    .replaceAll(fence, '')
    .replaceAll('`', '')
    .replaceAll(rule, '')
    .replaceAll(tableRule, '')
    .replaceAll(tableRow, (_, cells: string) => cells.trim().replaceAll(/[ \t]*\|[ \t]*/g, ', '))
    .replaceAll(lineStart, '$1')
    .replaceAll(link, '$1')
    .replaceAll(strong, '')
    .replaceAll(emphasis, '$2')
    .replaceAll(emoji, '');
  return said.trim() === '' ? '' : said.replaceAll(gap, ' ');
}
