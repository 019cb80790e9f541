/** What a voice is given of Markdown and emoji. */
import { describe, expect, it } from 'vitest';
import { withoutMarkup } from '../../../worker/core/answer/markup.ts';

describe('what models write for the eye is not read out', () => {
  it.each([
    ['# Prices\n\n', 'Prices\n\n'],
    ['- **Single** room: 80 euros\n', 'Single room: 80 euros\n'],
    ['* one\n* two\n+ three\n• four', 'one\ntwo\nthree\nfour'],
    ['- [ ] Call them\n- [x] Pay', 'Call them\nPay'],
    ['> Quoted.', 'Quoted.'],
    ['> ## Both', 'Both'],
    ['This is *very* and _really_ good.', 'This is very and really good.'],
    ['***All*** of __it__, ~~gone~~.', 'All of it, gone.'],
    ['**Note:** pay.', 'Note: pay.'],
    ['It is **not open', 'It is not open'],
    ['on Sunday**, she said.', 'on Sunday, she said.'],
    ['See [our page](https://example.com/a).', 'See our page.'],
    ['![a map](/map.png) Here.', 'a map Here.'],
    ['Type `help` now.', 'Type help now.'],
    ['```js\n', ''],
    ['let a = 1;\n``` done.', 'let a = 1;\n done.'],
    ['---\n', ''],
    ['| room | price |\n', 'room, price\n'],
    ['|---|:-:|\n| one | 80 |\n', '\none, 80\n'],
    ['Great! 😀 See you 👍🏽 soon 🎉', 'Great! See you soon '],
    ['😀👍', ''],
    ['Done😀 next.', 'Done next.'],
    [' **Yes**, ', ' Yes, '],
    [' - one', ' one'],
    ['👩‍👩‍👧 ❤️ 🇩🇪', ''],
    ['Press 1️⃣ now.', 'Press 1 now.'],
    ['Hello <b>Bob</b>, it is <span class="x">ready</span>.<br/>Next?', 'Hello Bob, it is ready.\nNext?'],
    ['<p>One.</p><ul><li>two</li></ul>', '\nOne.\n\n\ntwo\n\n'],
    ['<tr><td>one</td><td>80</td></tr>', '\none, 80\n'],
    ['<!-- draft -->Here.', 'Here.'],
    ['AT&amp;T, &quot;5&nbsp;&euro;&quot;, it&#39;s &#x31;', 'AT&T, "5 €", it\'s 1'],
    [
      'Mail <bob@example.com> or see <https://example.com/a>.',
      'Mail bob@example.com or see https://example.com/a.',
    ],
    ['so</think> Hi', 'so Hi'],
    ['Good-bye.<|im_end|>', 'Good-bye. '],
    ['~~~\nblock\n~~~', '\nblock\n'],
    ['Zero\u200Bwidth \u202Eright\u202C soft\u00ADhyphen \u0007bell', 'Zerowidth right softhyphen bell'],
  ])('%j is said as %j', (text, said) => {
    expect(withoutMarkup(text)).toBe(said);
  });

  it.each([
    'Press * or #, then 5.',
    'Press *, then #.',
    'Dial *67 or *70 first, or #31#.',
    'Your card ends in **** 1234, or **1234.',
    '2 * 3 is 6, and 5*3 is 15.',
    'It is -5 degrees, and 3 - 2 is 1.',
    'Room 5 - the blue one.',
    'The file is called user_name_old and C# is not C++.',
    'Mail to john_smith@example.com or a_b_c@example.com.',
    'We are number #1 of [the list] (see below).',
    '© 2026 Acme™, 10 €, 5 > 3.',
    '1. Book\n2. Pay',
    'Well-known, e-mail; mm-hmm.',
    'A | B',
    'If a<b and c > d, I <3 it, R&B; Q&A &c.',
    'Wait <break time="1s"/> <spell>AB</spell>',
    'می‌خواهم, क्‍ष',
    '',
    ' ',
    ' One moment. ',
  ])('%j stays as it is', (text) => {
    expect(withoutMarkup(text)).toBe(text);
  });
});
