/**
 * What models write for the eye: Markdown, HTML, emoji, boxes, dividers and arrows. A voice reads them out ("asterisk asterisk"), so they are left out on the way to TTS;
 * the words between them stay, and so does every sign that may be meant, such as the keys in "press * or #". It sees one piece of an answer
 * at a time, so pairs that a cut has parted are taken one by one where that is safe.
 */

const fence = /(?:`{3,}|~{3,})[\w+#-]*(?=[ \t]*(?:\n|$))|`{3,}|~{3,}/g;
const rule =
  /^[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:=[ \t]*){3,}|[+][-=+]{2,}[+][ \t]*)$/gm;
/** A divider within a line, such as around a title. */
const divider =
  /(?<=^|\s)(?:-{4,}|={3,}|_{3,}|(?<!\d[ \t]*)\*{3,}(?![ \t]*[\d*])|#{7,})(?=[\s.,;:!?]|$)|^[ \t]*-{3}(?=\s)|(?<=\s)-{3}[ \t]*$/gm;
/** The upright lines of a box, which may be a table's. */
const upright = /[│┃║╎╏┆┇┊┋❘❙❚]/g;
/** What draws: lines and blocks, signs of keys and players, shapes, check marks, stars, braille. Signs of music and numbers in circles are words. */
const signs = '\\u2300-\\u23FF\\u2500-\\u266C\\u2670-\\u2775\\u2794-\\u27BF\\u2800-\\u28FF\\u2B00-\\u2BFF';
const drawing = new RegExp(`[${signs}]`, 'g');
/** An arrow or a dot between words is a pause. */
const arrows = '\\u2190-\\u21FF\\u2794\\u2798-\\u27BE\\u27F0-\\u27FF\\u2900-\\u297F\\u2B00-\\u2B11';
const arrow = new RegExp(
  `[ \\t]*[${arrows}]\\uFE0F?[ \\t]*|(?:^|[ \\t]+)(?:<?-{1,2}>|<?={1,2}>|<-{1,2}|[•·∙◦])[ \\t]+`,
  'gm',
);
const tableRule = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$/gm;
const tableRow = /^[ \t]*\|(.+?)\|?[ \t]*$/gm;
/** A heading, a quotation, a bullet, a box to tick: all at the beginning of a line. */
const lineStart = /^([ \t]*)(?:(?:#{1,6}|>|[-*+•·∙‣⁃◦](?:[ \t]+\[[ xX]\])?)[ \t]+)+/gm;
/** A picture wherever it lies, and a link with its title. */
const link =
  /!\[([^[\]\n]*)\]\([^()\n]*\)|\[([^[\]\n]*)\]\((?:https?:|mailto:|tel:|\/|#|\.{1,2}\/|[\w-]+(?:\/[\w-]+)*\.[a-z]{2,5}(?=[)#?\s]))[^()\s]*(?:\s+"[^"\n]*"|\s+'[^'\n]*')?\)/g;
/** A source that is cited: "【4:0†source】", "[^1]", and "[1]" right behind what it stands for. */
const citation =
  /【(?:[\d:,\s]*|[^【】\n]{0,80}†[^【】\n]{0,80})】|\[\^\w{1,8}\]:?|(?<=[\p{L}\p{N}.,;!?"”’)\]])(?:\[\d{1,3}\])+(?![(\w])/gu;
/** A sign that is kept from being read as Markdown, and what stands around a formula. */
const escaped = /\\(?=[\p{P}\p{S}])|\$\$/gu;
const highlight = /(?<![\p{L}\p{N}=])==(?=[^\s=])([^=\n]+)==(?![\p{L}\p{N}=])/gu;
/** A face of signs, by itself. */
const face = /(?<![^\s(])(?:[:;=][-']?[)(DPp|/\\]|\([\^>-][_.-][\^<-]\)|¯\\?_?\(ツ\)_?\/¯)(?=$|[\s.,!?])/g;
/** Escapes of JSON that a model wrote as text. A small letter behind `\n` may be the name of a file. */
const escapes = /\\r\\n|\\n(?=$|[^a-z])|(?<=[.!?;,])\\n|\\u([\da-fA-F]{4})/g;
/** The name of an emoji. */
const shortcode = /(?<![^\s])[:](?:[a-z][a-z0-9_+-]{1,30}|[+-]1)[:](?![^\s.,!?])/g;
/** Arrows and squares that are newer than the others. */
const newSigns = /[\u{1F780}-\u{1F8FF}]/gu;
const strong =
  /(?<![*\d])\*{2,3}(?=[^\s*\d])|(?<=[^\s*])\*{2,3}(?!\*|(?<=\d\*\*)\d)|(?<![\p{L}\p{N}_])__(?=[^\s_])|(?<=[^\s_])__(?![\p{L}\p{N}_])|~~/gu;
const emphasis = /(?<![\p{L}\p{N}*_])([*_])(?=\S)([^*_\n]*\p{L}[^*_\n]*)(?<=\S)\1(?![\p{L}\p{N}*_])/gu;
const emoji =
  /(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F)(?:\p{Emoji_Modifier}|\uFE0F|\u200D(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}))*/gu;
/** The frame of a digit on a key. */
const keycap = /\uFE0F?\u20E3/g;
/** Tags of HTML alone: those of other languages, such as `<break/>` and `<spell>`, are orders to the voice. */
const [blocks, inline] = [
  'article|aside|blockquote|br|caption|dd|details|div|dl|dt|footer|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|summary|table|tbody|thead|tr|ul',
  'a|abbr|b|big|body|button|center|cite|code|del|em|font|head|html|i|img|ins|kbd|label|mark|q|s|samp|small|span|strike|strong|sub|sup|t[dh]|think|u|var',
].map((names) => new RegExp(`</?(?:${names})(?:\\s[^<>]*=[^<>]*|\\s*/?)>`, 'gi')) as [RegExp, RegExp];
/** What tells models where turns begin and end, from servers that let it through. */
const token = /<\|[a-z_]{1,32}\|>/gi;
const nextCell = /<\/t[dh]>\s*(?=<t[dh][\s>])/gi;
const comment = /<!--[^]*?-->/g;
/** What nobody says of an address of the web, and a slash at its end. */
const webAddress = /(?<![\p{L}\p{N}])https?:\/\/(?:www\.)?([^\s<>()"']+)/giu;
/** An address in angle brackets. */
const address = /<((?:https?:\/\/|mailto:)?[^\s<>]+[@.][^\s<>]+)>/g;
const entity = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]{2,6}));/gi;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  pound: '£',
  deg: '°',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
};
/** Control characters, marks of direction, what has no width but where it joins letters, and half a character, which voices refuse. */
// eslint-disable-next-line no-control-regex -- they are what is left out
const invisible =
  /\u001B\[[\d;]*[A-Za-z]|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\p{Cs}]/gu;
/** What is left of the blanks around an emoji. */
const gap = /(?<=\S)[ \t]{2,}(?=\S)/g;

/** Brackets, quotes and lines that nothing is left between. */
const nothing = /^[\s"'“”‘’()[\]{}<>:;,|=~_-]*$/;
/** Nothing but signs, of which several are no words: voices say what is on none of them, or make a noise. */
const isSigns = /^\s*(?:[\p{Pd}.,;:!?…·_^'"“”‘’()[\]]\s*){2,}$/u;
const isMarked = new RegExp(
  `[*_;^=\`#>|~[•·∙‣⁃◦+&={}<\\\\$:【-]|[\\u{1F780}-\\u{1F8FF}]|\\p{Emoji_Presentation}|\\uFE0F|[${arrows}${signs}]`,
  'u',
);

/** The text as it is to be said; without anything to say it is empty. */
export function withoutMarkup(text: string): string {
  const seen = text.replaceAll(invisible, '');
  if (!isMarked.test(seen)) return isSigns.test(seen) ? '' : seen;
  const plain = seen.replaceAll(face, '').replaceAll(escapes, unescaped).replaceAll(escaped, '');
  const said = withoutHtml(plain)
    .replaceAll(upright, '|')
    .replaceAll('▁', ' ')
    .replaceAll(fence, '')
    .replaceAll('`', '')
    .replaceAll(rule, '')
    .replaceAll(tableRule, '')
    .replaceAll(divider, '')
    .replaceAll(tableRow, (_, cells: string) => cells.trim().replaceAll(/[ \t]*\|[ \t]*/g, ', '))
    .replaceAll(lineStart, '$1')
    .replaceAll(link, '$1$2')
    .replaceAll(citation, '')
    .replaceAll(webAddress, (_, rest: string) => rest.replace(/\/(?=[.,;:!?]*$)/, ''))
    .replaceAll(shortcode, '')
    .replaceAll(highlight, '$1')
    .replaceAll(strong, '')
    .replaceAll(emphasis, '$2')
    .replaceAll(keycap, '')
    .replaceAll(arrow, pauseFor)
    .replaceAll(emoji, '')
    .replaceAll(drawing, '')
    .replaceAll(newSigns, '');
  return nothing.test(said) || isSigns.test(said) ? '' : said.replaceAll(invisible, '').replaceAll(gap, ' ');
}

const unescaped = (_: string, code?: string): string =>
  code === undefined ? '\n' : String.fromCharCode(Number.parseInt(code, 16));

function pauseFor(sign: string, at: number, text: string): string {
  const isBetween =
    /[\p{L}\p{N}"”’)]$/u.test(text.slice(0, at)) && /^[\p{L}\p{N}"“‘(]/u.test(text.slice(at + sign.length));
  return isBetween ? ', ' : ' ';
}

function withoutHtml(text: string): string {
  const plain = text
    .replaceAll(comment, '')
    .replaceAll(token, ' ')
    .replaceAll(nextCell, ', ')
    .replaceAll(blocks, '\n')
    .replaceAll(inline, '')
    .replaceAll(address, '$1');
  return plain.replaceAll(entity, (whole, decimal?: string, hex?: string, name = '') => {
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return Number.isNaN(code) ? (entities[String(name).toLowerCase()] ?? whole) : String.fromCodePoint(code);
  });
}
