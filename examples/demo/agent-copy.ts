/**
 * Agent files name the demo's providers by their usual ports. Where a provider has another one, the service gets a copy of the file that names
 * it, whether the agent is the demo's or the user's own.
 */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Ports in use, by the usual ones in whose place they are. */
export type MovedPorts = ReadonlyMap<number, number>;

const address = /(\bbase_url\s*=\s*["']\w+:\/\/(?:127\.0\.0\.1|localhost)):(\d+)\b/g;

export const withPorts = (text: string, moved: MovedPorts): string =>
  text.replace(address, (_, place: string, port: string) => `${place}:${moved.get(Number(port)) ?? port}`);

/** The file as it is where nothing in it has moved, or where it cannot be read, which the service then says. */
export async function agentFileFor(
  source: string,
  { moved, scratch }: { readonly moved: MovedPorts; readonly scratch: string },
): Promise<string> {
  const text = await readFile(source, 'utf8').catch(() => '');
  const copy = withPorts(text, moved);
  if (copy === text) return source;
  const folder = join(scratch, 'agent');
  await mkdir(folder);
  // Prompts and sounds that the file names lie beside it.
  const beside = (await readdir(dirname(source))).filter((name) => name !== basename(source));
  await Promise.all(beside.map((name) => symlink(resolve(dirname(source), name), join(folder, name))));
  const path = join(folder, basename(source));
  await writeFile(path, copy);
  return path;
}
