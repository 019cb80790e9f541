/** Unpacking the archives in which voices come. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpackArchive } from '../../../cli/commands/models/unpack.ts';

/** A voice's folder, one with a link, and one that climbs. */
const voice =
  'QlpoMTFBWSZTWaA9i08AAaL/wO2QACBAA/+AwARKEP7v32EABAQoMADs0DKImnojQegQ9EBgBNAYNJop5TTAjRhNAaP1TIyaGgCK' +
  'RI1HiJkzU0yNNDQ2o0aYEZdPNXzdvLJEq+rBSKVpAJj2EggoUqRjIAxCAEAjNficuqYyTrBGBGMA/oyDXBcClvS3hl1F0g4RYFuL' +
  'JiFaIBXXh97ru1uhEqzyHZMqc8W4U2MaZh5EW8Qc7KQdk0GYbKcJBRMYa6Wy2sAjUCQZt8h+/DcO2zfuHVTR61yrFS9wHbOyd6sY' +
  'gEJ0yKEUsnLkOHiClXG/srx2Dgvch50UUjT84+Y8+n9oyRoy8RBAn2IKgzigBIEED/F3JFOFCQoD2LTw';
const link =
  'QlpoMTFBWSZTWYGA34YAAJh7gMiAACBAAf+AQhBuKd/ABAggAHQSio08UxDJk8TUyPCgSUg0aAAAAD7nF1LoQQMakhE9dRIEoUDR' +
  'CGAMiOB45lfLk0REjBoHZS4ersHnggc2jBQ9H1dyuR8jNNKjrplFqRso5lLWt+bjqIgfxdyRThQkIGA34YA=';
const climbing =
  'QlpoMTFBWSZTWXkRYvcAAJR7gMmAAADAAe+AQBBuIN9ABAggAHQSijQBoNA0GnqBJSBoyZNAAA+zsi9xSkB61JCI3yHhCTBw0Qhg' +
  'DHHJMPziLRSIia7VAPUuoNFwSGxa6oUUIyJdmTiUJDHqUsWDDfGAiB+LuSKcKEg8iLF7gA==';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-unpack-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const unpackHere = (archive: string | Buffer, top = 'voice'): void => {
  const path = join(folder, 'archive.tar.bz2');
  writeFileSync(path, typeof archive === 'string' ? Buffer.from(archive, 'base64') : archive);
  unpackArchive(path, join(folder, 'out'), { top });
};

describe('an archive', () => {
  it('becomes its folder, under another name', () => {
    unpackHere(voice);
    const out = join(folder, 'out');
    expect(readFileSync(join(out, 'tokens.txt'), 'utf8')).toBe('_ 0\n');
    expect(readFileSync(join(out, 'espeak-ng-data', 'deep', 'phontab')).length).toBe(70_000);
    expect(readFileSync(join(out, 'empty')).length).toBe(0);
    expect(existsSync(join(out, `${'long-'.repeat(25)}name`))).toBe(true);
  });

  it.each([
    ['a link', link],
    ['a path that leads out', climbing],
    ['another folder', voice, 'other'],
  ])('is refused with %s in it', (_, archive, top = 'voice') => {
    expect(() => unpackHere(archive, top)).toThrow(/^the archive holds/);
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
  });

  it('is refused when it is cut off or damaged at any byte', () => {
    const packed = Buffer.from(voice, 'base64');
    for (let cut = 0; cut < packed.length; cut += 1)
      expect(() => unpackHere(packed.subarray(0, cut)), `cut at ${cut}`).toThrow('the archive is damaged');
    for (let at = 4; at < packed.length; at += 1) {
      const damaged = Buffer.from(packed);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      expect(() => unpackHere(damaged), `byte ${at}`).toThrow('the archive is damaged');
    }
  });

  it('says what the disk said', () => {
    mkdirSync(join(folder, 'out', 'tokens.txt', 'full'), { recursive: true });
    expect(() => unpackHere(voice)).toThrow(/^ENOTEMPTY/);
  });
});
