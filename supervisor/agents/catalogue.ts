/**
 * Which version of which agent is in force, file by file. A file that is wrong, or that claims what another agent has, changes nothing: what
 * was in force stays. Pure.
 *
 * Invariant: no two versions in force claim the same.
 */
import { noRouting } from '../../shared/agents/routing.ts';
import { claimsOf } from '../../shared/agents/claims.ts';
import type { AgentLeft } from '../../shared/agents/takeover.ts';
import type { AgentVersion } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';

/** A file as it was read. */
export interface FileReading {
  /** As people are told of it. */
  readonly shown: string;
  readonly tenant?: string;
  /** Absent where the file is wrong. */
  readonly version?: AgentVersion;
  /** What is wrong with it, one line each. */
  readonly problems: readonly string[];
}

export interface AgentRow {
  readonly file: string;
  readonly tenant?: string;
  /** Absent while nothing of the file has been in force. */
  readonly version?: AgentVersion;
  /** Since when that version is in force, in Unix milliseconds. */
  readonly since?: Millis;
  /** Why what the file says now is not in force; absent where it is. */
  readonly problem?: string;
}

/** What became of the files, for the log. */
export interface CatalogueChange {
  readonly added: readonly AgentVersion[];
  readonly changed: readonly AgentVersion[];
  readonly removed: readonly AgentVersion[];
  readonly refused: readonly { readonly file: string; readonly problems: readonly string[] }[];
}

interface Entry {
  reading: FileReading;
  inForce: AgentVersion | undefined;
  since: Millis;
  /** Of the newest reading. */
  problems: readonly string[];
}

export class Catalogue {
  /** By path, in the order of paths. */
  #entries = new Map<string, Entry>();

  /** An earlier supervisor had this version of the file in force. */
  carry(
    path: string,
    version: AgentVersion,
    { shown, since }: { readonly shown: string; readonly since: Millis },
  ): void {
    const reading: FileReading = {
      shown,
      ...(version.tenant !== undefined && { tenant: version.tenant }),
      version,
      problems: [],
    };
    this.#entries.set(path, { reading, inForce: version, since, problems: [] });
  }

  /** What is in force, for the supervisor after this one: as text where the file says something else by now. */
  given(): readonly AgentLeft[] {
    return [...this.#entries].flatMap(([path, { reading, inForce, since }]) => {
      if (inForce === undefined) return [];
      const { hash } = inForce;
      return [{ path, hash, since, ...(reading.version?.hash !== hash && { version: inForce }) }];
    });
  }

  /** Takes what was in force before, for files of which nothing is in force yet, and keeps the rest. Files that are gone stay so. */
  inherit(left: readonly AgentLeft[]): CatalogueChange {
    const before = new Map([...this.#entries].map(([path, { inForce }]) => [path, inForce]));
    const told = new Map([...this.#entries].map(([path, { problems }]) => [path, problems.join('\n')]));
    const taken = new Set(this.inForce.flatMap((version) => claimsOf(version).map(({ key }) => key)));
    for (const { path, hash, since, version } of left) {
      const entry = this.#entries.get(path);
      if (entry === undefined) continue;
      if (entry.inForce?.hash === hash) entry.since = since;
      if (entry.inForce !== undefined) continue;
      // Of two new files with one claim neither got it: one of them had it before.
      const read = entry.reading.version;
      const known = version ?? (read?.hash === hash ? read : undefined);
      if (known === undefined || claimsOf(known).some(({ key }) => taken.has(key))) continue;
      for (const { key } of claimsOf(known)) taken.add(key);
      entry.inForce = known;
      entry.since = since;
      if (read?.hash === hash) entry.problems = [];
    }
    return changeOf(before, this.#entries, told);
  }

  /** Takes what was read anew, and files that are gone, as undefined. */
  apply(readings: ReadonlyMap<string, FileReading | undefined>, now: Millis): CatalogueChange {
    const before = new Map([...this.#entries].map(([path, { inForce }]) => [path, inForce]));
    const told = new Map([...this.#entries].map(([path, { problems }]) => [path, problems.join('\n')]));
    for (const [path, reading] of readings) {
      const entry = this.#entries.get(path);
      if (reading === undefined) this.#entries.delete(path);
      else if (entry === undefined)
        this.#entries.set(path, { reading, inForce: undefined, since: now, problems: [] });
      else entry.reading = reading;
    }
    this.#entries = new Map([...this.#entries].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    this.#settle(now);
    return changeOf(before, this.#entries, told);
  }

  /** Every new version comes into force that claims nothing of another agent's. */
  #settle(now: Millis): void {
    const wanted = new Map<string, AgentVersion>();
    for (const [path, { reading, inForce }] of this.#entries)
      if (reading.version !== undefined && reading.version.hash !== inForce?.hash)
        wanted.set(path, reading.version);
    const conflicts = new Map<string, string>();
    // One that stays as it was may claim what another one hoped for: it is looked at anew until nobody has to give way.
    for (let found = this.#conflicts(wanted); found.size > 0; found = this.#conflicts(wanted))
      for (const [path, problem] of found) {
        wanted.delete(path);
        conflicts.set(path, problem);
      }
    for (const [path, entry] of this.#entries) {
      const version = wanted.get(path);
      if (version !== undefined) {
        entry.inForce = version;
        entry.since = now;
      }
      const conflict = conflicts.get(path);
      entry.problems = conflict === undefined ? entry.reading.problems : [conflict];
    }
  }

  /**
   * Of those that want to come into force, each that claims what another file has or wants. The one that has it in force keeps it: nobody keeps an
   * agent from being changed by wanting what it has.
   */
  #conflicts(wanted: ReadonlyMap<string, AgentVersion>): ReadonlyMap<string, string> {
    const holders = new Map<string, string[]>();
    const claims = new Map<string, ReturnType<typeof claimsOf>>();
    for (const [path, { inForce }] of this.#entries) {
      const version = wanted.get(path) ?? inForce;
      if (version === undefined) continue;
      const own = claimsOf(version);
      claims.set(path, own);
      for (const { key } of own) holders.set(key, [...(holders.get(key) ?? []), path]);
    }
    const found = new Map<string, string>();
    for (const path of wanted.keys()) {
      const has = new Set(claimsOf(this.#entries.get(path)?.inForce ?? nobody).map(({ key }) => key));
      const taken = claims.get(path)?.find(({ key }) => (holders.get(key)?.length ?? 0) > 1 && !has.has(key));
      const other = taken && holders.get(taken.key)?.find((one) => one !== path);
      const shown = other === undefined ? undefined : this.#entries.get(other)?.reading.shown;
      if (taken !== undefined) found.set(path, `${taken.words} is also that of ${shown ?? 'another file'}`);
    }
    return found;
  }

  get inForce(): readonly AgentVersion[] {
    return [...this.#entries.values()].flatMap(({ inForce }) => inForce ?? []);
  }

  /** The version of a file that is in force. */
  of(path: string): AgentVersion | undefined {
    return this.#entries.get(path)?.inForce;
  }

  get paths(): Iterable<string> {
    return this.#entries.keys();
  }

  get rows(): ReadonlyMap<string, AgentRow> {
    return new Map(
      [...this.#entries].map(([path, { reading, inForce, since, problems }]) => [
        path,
        {
          file: reading.shown,
          ...(reading.tenant !== undefined && { tenant: reading.tenant }),
          ...(inForce !== undefined && { version: inForce, since }),
          ...(problems[0] !== undefined && { problem: problems[0] }),
        },
      ]),
    );
  }
}

const nobody = { id: '', routing: noRouting };

function changeOf(
  before: ReadonlyMap<string, AgentVersion | undefined>,
  entries: ReadonlyMap<string, Entry>,
  told: ReadonlyMap<string, string>,
): CatalogueChange {
  const [added, changed, removed]: AgentVersion[][] = [[], [], []];
  for (const [path, was] of before) {
    const is = entries.get(path)?.inForce;
    if (was !== undefined && (is === undefined || is.id !== was.id)) removed?.push(was);
    if (was !== undefined && is?.id === was.id && is.hash !== was.hash) changed?.push(is);
  }
  for (const [path, { inForce }] of entries)
    if (inForce !== undefined && before.get(path)?.id !== inForce.id) added?.push(inForce);
  const refused = [...entries]
    .filter(([path, { problems }]) => problems.length > 0 && told.get(path) !== problems.join('\n'))
    .map(([, { reading, problems }]) => ({ file: reading.shown, problems }));
  return { added: added ?? [], changed: changed ?? [], removed: removed ?? [], refused };
}
