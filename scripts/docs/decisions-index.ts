/** The index of the decisions: one line for each record, with its status. */
import { basename } from 'node:path';

export interface DecisionRecord {
  readonly path: string;
  readonly text: string;
}

/** @throws Error for a record without a number, a title or a status. */
export function decisionsIndex(records: readonly DecisionRecord[]): { path: string; text: string } {
  const rows = [...records]
    .sort((a, b) => a.path.localeCompare(b.path))
    .map(({ path, text }) => {
      const name = basename(path);
      const [, number = '', title = ''] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
      const [, status = ''] = /^Status: ([^.:]+)[.:]/m.exec(text) ?? [];
      if (number === '' || status === '' || !name.startsWith(number))
        throw new Error(`${name}: begins with "# ${name.slice(0, 4)}: title" and a line "Status: ..."`);
      return `| [${number}](${name}) | ${title} | ${status} |`;
    });
  const text = [
    '# Decisions',
    '',
    'Why things are as they are, one record for each decision. Numbers have gaps where a record was merged into another one.',
    '',
    '| Record | Decision | Status |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
  return { path: 'docs/decisions/README.md', text };
}
