/** Unpacking the archives in which voices come. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpackBzip2 } from '../../../supervisor/bzip2.ts';
import { unpackArchive } from '../../../supervisor/unpack.ts';

/** Made once with another program: runs of bytes, all bytes, and text. */
const runs =
  'QlpoMTFBWSZTWZAildEAAGx/////////////////////////////////////////////wAHcUBtIAAAAACYAAABMBMNDQAAAAAAB' +
  'MAAAACYAAAAAAARgTAAAAAAAAQ0AAAAATAAAAJgJgAAAAAAAAmADQATAEwAAAAAAAJgAAmAAAAACTAATAAEwAAAAAAAAAAAAAAAA' +
  'AAAAAAAAAAAAAAAAAAAAAKp+hoASaUTaIZA0wjAAJiGBNMTGgmAAAA00Gk9CZGABDRgAgMjEYAAE0YgwjIyMmhgTQYJgBGdyRI7x' +
  'SEJdQkEJcwkEJdEJUtjXPhFJjlTic+BOpadzzwfC8Oez7xPF8bx/In01MzRpi/XryymvZRv1FKKFgSbAEEmjuSLlDNi1Q4M7TJYZ' +
  'IrFJAS1JmGYcsylSEoA4CYjWlWEil0ym06n1Co+ZLVKp1TzfO8+q1ar1ispCSlAEtMTQKcnqCipKaoqqyusLK0tri6vL7AwsTGyM' +
  'rMztDS1NbY2tze4OLcCojkBABhKpX0S9fR6ITDZdNeCRYAlzmfYEIgAEwF/K8HrJHHYhEVgwY3AoRVMyH10pDBOSNTKOMqSDSvsi' +
  'WMhG4xTJE6VlbOEGWQ4yZTZSYhaQxEuLgUreDmAcFFS8IhUVpDRBIWh74hiO0CKMhIoLghWh8cWDU8IylQkjjPWmaM0YFKwqTncE' +
  'mBSFOVDAWsDtOEcBGBWRnccUQedoOAXDKQczAwklv4iuCUEcQosKhsQkdCBiEOBAXEaAKYpChXJNGebAjXKE0IIUwzIirQx8UTBS' +
  'diGFfJAijKkgMFAzCwYlyXiWEAaKUg5wcDBocGBQaFvj6/P8BAwUHCQoGGh4iJiouMjY6P/khIyUnKSstLzH9mZqbnJ2en6ChoqS' +
  'lpqeoqaqrrK2ur7CxsrO0tba3uLm6u7y9vr/AwcLDxMX+/7Gx8jJysv/5mbnZ7toNulp6mrra+xs//a29zd3t/g4eLj5OXm5+jp6' +
  'uvs7e7v8PHy8/T19isAAAy/vM/Hz9fYu5IpwoSEgRSui';
const runsSha256 = 'a21ea9909e59f2abd72be8f93c8bc6bf743bd31ca9a616eef106f9cb4963d05f';
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

/** Unpacks in pieces of so many bytes. */
function unpacked(packed: Buffer, pieceBytes = packed.length): Buffer {
  let at = 0;
  const out: Buffer[] = [];
  const read = (): Uint8Array | undefined => {
    const piece = packed.subarray(at, at + pieceBytes);
    at += pieceBytes;
    return piece.length === 0 ? undefined : piece;
  };
  unpackBzip2(read, (bytes) => out.push(Buffer.from(bytes)));
  return Buffer.concat(out);
}

const unpackHere = (archive: string, top = 'voice'): void => {
  const path = join(folder, 'archive.tar.bz2');
  writeFileSync(path, Buffer.from(archive, 'base64'));
  unpackArchive(path, join(folder, 'out'), { top });
};

describe('bzip2', () => {
  it('gives the bytes back, however the file is cut', () => {
    const packed = Buffer.from(runs, 'base64');
    const whole = unpacked(packed);
    expect(createHash('sha256').update(whole).digest('hex')).toBe(runsSha256);
    for (const pieceBytes of [1, 7, 100]) expect(unpacked(packed, pieceBytes).equals(whole)).toBe(true);
  });

  it('gives the bytes of several streams in one file, as parallel packers write them', () => {
    const packed = Buffer.from(runs, 'base64');
    const once = unpacked(packed);
    expect(unpacked(Buffer.concat([packed, packed])).equals(Buffer.concat([once, once]))).toBe(true);
  });

  it('refuses what is damaged or cut off at any byte', () => {
    const packed = Buffer.from(runs, 'base64');
    for (let cut = 0; cut < packed.length; cut += 1)
      expect(() => unpacked(packed.subarray(0, cut)), `cut at ${cut}`).toThrow();
    for (let at = 4; at < packed.length; at += 1) {
      const damaged = Buffer.from(packed);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      let same = false;
      try {
        same = unpacked(damaged).equals(unpacked(packed));
      } catch {
        same = true;
      }
      expect(same, `byte ${at}`).toBe(true);
    }
  });
});

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
});
