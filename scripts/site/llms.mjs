// The documentation for language models (llmstxt.org): a list of all pages, and the guides and references in one text.
import { sectionNames } from './pages.mjs';

const summary =
  'A self-hosted engine for real-time voice agents on Linux and Node: telephone, browser and SIP calls, interruptible at any moment. An agent is one TOML file, or a ' +
  'program in TypeScript or Python that the service connects to.';

/** What a page begins with that says nothing of what is in it. */
const isFormal = (part) => /^(Status|Belongs to|Generated from)\b/.test(part) || part.includes('```');

/** The first sentence that a page says of itself: no heading, no picture, no table, no code. */
export function firstSentence(text) {
  const paragraphs = text.replace(/^(```[\s\S]*?^```|#+ .*)$/gm, '').split(/\n\s*\n/);
  const isProse = (part) => /^(?:\*\*)?[\p{Lu}\p{N}`]/u.test(part) && !isFormal(part);
  const paragraph = paragraphs.find((part) => isProse(part.trim())) ?? '';
  const plain = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^(.*?[.:])(?=\s|$)/.exec(plain)?.[1].replace(/:$/, '.') ?? plain;
}

const asMarkdown = (target) => target.replace(/html$/, 'md');

/** `llms.txt`: what is for users first, what explains the inside under the heading that readers in a hurry leave out. */
export function llmsList(all) {
  const pages = all.filter(({ isUnlisted }) => !isUnlisted);
  const list = (some) =>
    some
      .map(({ title, target, text }) => `- [${title}](${asMarkdown(target)}): ${firstSentence(text)}`)
      .join('\n');
  const sections = sectionNames.map((name) => [
    name,
    pages.filter((page) => page.section === name && page.isGuide),
  ]);
  const parts = sections
    .filter(([, some]) => some.length > 0)
    .map(([name, some]) => `## ${name}\n\n${list(some)}`);
  const inside = `## Optional\n\n${list(pages.filter(({ isGuide }) => !isGuide))}`;
  return `# Voice agent service\n\n> ${summary} All of this in one file: llms-full.txt\n\n${[...parts, inside].join('\n\n')}\n`;
}

/** `llms-full.txt`: every guide and reference, each under its path. */
export function llmsFull(pages) {
  const parts = pages
    .filter(({ isGuide, isUnlisted }) => isGuide && !isUnlisted)
    .map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`);
  return `# Voice agent service\n\n> ${summary}\n\n${parts.join('\n\n')}`;
}
