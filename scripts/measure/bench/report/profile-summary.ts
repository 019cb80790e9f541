/** Reads CPU profiles and says in which functions of the sources the time went. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shownFunctions = 30;
const waiting = new Set(['(idle)', '(root)']);
const maps = new Map<string, SourceMap | undefined>();

function mapOf(url: string): SourceMap | undefined {
  if (maps.has(url)) return maps.get(url);
  let map: SourceMap | undefined;
  const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  if (!url.includes('/node_modules/') && file !== '' && existsSync(file)) {
    const text = readFileSync(file, 'utf8');
    map = new SourceMap(JSON.parse(text) as ConstructorParameters<typeof SourceMap>[0]);
  }
  maps.set(url, map);
  return map;
}

function placeOf({ callFrame }: Profile['nodes'][number]): string {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  const name = functionName === '' ? '(anonymous)' : functionName;
  const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
  if (entry !== undefined && 'originalSource' in entry)
    return `${name} ${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\//, '');
  return url === '' ? name : `${name} ${file}:${lineNumber + 1}`;
}

/** A table for each `.cpuprofile` in the folder: own time and time with callees, as shares of the time that was not idle. */
export function summariseProfiles(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  return names.map((name) => summarise(join(folder, name))).join('\n\n');
}

function summarise(file: string): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const ownUs = new Map<number, number>();
  profile.samples.forEach((id, at) => ownUs.set(id, (ownUs.get(id) ?? 0) + (profile.timeDeltas[at] ?? 0)));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const own = new Map<string, number>();
  const total = new Map<string, number>();
  const grow = (sums: Map<string, number>, place: string, byUs: number): void =>
    void sums.set(place, (sums.get(place) ?? 0) + byUs);
  const visit = (id: number, above: ReadonlySet<string>): number => {
    const node = nodes.get(id);
    if (node === undefined) return 0;
    const place = placeOf(node);
    const selfUs = ownUs.get(id) ?? 0;
    const inside = above.has(place) ? above : new Set([...above, place]);
    const sumUs = (node.children ?? []).reduce((sum, child) => sum + visit(child, inside), selfUs);
    grow(own, place, selfUs);
    if (!above.has(place)) grow(total, place, sumUs);
    return sumUs;
  };
  const root = profile.nodes[0];
  if (root !== undefined) visit(root.id, new Set());
  const allUs = profile.timeDeltas.reduce((sum, delta) => sum + delta, 0);
  const busyUs = [...own].reduce((sum, [place, us]) => (waiting.has(place) ? sum : sum + us), 0);
  const line = (place: string): string =>
    `  ${(((own.get(place) ?? 0) / busyUs) * 100).toFixed(1).padStart(5)} ${(((total.get(place) ?? 0) / busyUs) * 100).toFixed(1).padStart(6)}  ${place}`;
  const ranked = [...own.keys()].filter((place) => !waiting.has(place));
  ranked.sort((a, b) => (own.get(b) ?? 0) - (own.get(a) ?? 0));
  const inclusive = [...total.keys()].filter((place) => !waiting.has(place));
  inclusive.sort((a, b) => (total.get(b) ?? 0) - (total.get(a) ?? 0));
  return [
    `${basename(file)}: busy ${((busyUs / allUs) * 100).toFixed(1)} % of ${(allUs / 1e6).toFixed(0)} s; own %, with callees %`,
    ...ranked.slice(0, shownFunctions).map(line),
    '  -- with callees',
    ...inclusive.slice(0, shownFunctions).map(line),
  ].join('\n');
}
