/**
 * The certificate of the TLS listener as its files have it: a renewed one counts for the connections that come after it. Files that
 * cannot be used, such as a chain whose key is not written yet, leave the one before in force.
 */
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { SipSettings } from '../../../shared/sip/variables.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { reasonOfFile } from '../../../shared/installation/named-files.ts';

type Files = Pick<NonNullable<SipSettings['tls']>, 'certFile' | 'keyFile'>;

export class Certificate {
  readonly #files: Files;
  readonly #log: Log;
  #seen: string;

  constructor(files: Files, log: Log) {
    this.#files = files;
    this.#log = log;
    this.#seen = this.#stamp();
  }

  /** @throws Error that tells the operator which of both files is wrong. */
  read(): SecureContextOptions {
    const { certFile, keyFile } = this.#files;
    const cert = bytesOf('SVC_SIP_TLS_CERT', certFile);
    const key = bytesOf('SVC_SIP_TLS_KEY', keyFile);
    let wrong = 'SVC_SIP_TLS_CERT must hold a certificate in PEM form';
    try {
      createSecureContext({ cert });
      wrong = 'SVC_SIP_TLS_KEY must hold the key of that certificate in PEM form, without a passphrase';
      createSecureContext({ cert, key });
    } catch {
      throw new Error(wrong);
    }
    return { cert, key, minVersion: 'TLSv1.2' };
  }

  /** Gives what the files hold, where that has changed. */
  ifRenewed(take: (context: SecureContextOptions) => void): void {
    const stamp = this.#stamp();
    if (stamp === this.#seen) return;
    this.#seen = stamp;
    try {
      take(this.read());
      this.#log.info({ listener: 'sips' }, 'a renewed certificate is in force');
    } catch (error) {
      this.#log.warn(
        { error: error instanceof Error ? error.message : 'unknown', listener: 'sips' },
        'the changed certificate cannot be used, and the one before stays in force',
      );
    }
  }

  #stamp(): string {
    const { certFile, keyFile } = this.#files;
    try {
      return [certFile, keyFile]
        .map((file) => statSync(file))
        .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
        .join();
    } catch {
      return 'unreadable';
    }
  }
}

function bytesOf(variable: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${variable} must name a file that can be read: ${reasonOfFile(error)}`);
  }
}
