/** The keyless demo called by `baresip`: a spoken question is answered over UDP, TCP, and TLS with SDES. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { selfSigned } from '../support/self-signed.ts';
import { baresipCall, baresipMissing, pauseMs, stretches } from '../support/sip/baresip.ts';

/** Below what systems give out by themselves: UDP and TCP need the same one, and a build may lie between looking and listening. */
const plainPort = 24_000 + 2 * (process.pid % 500);

describe.skipIf(baresipMissing !== undefined)(
  `baresip${baresipMissing === undefined ? '' : ` (${baresipMissing})`}`,
  () => {
    let demo: RunningDemo | undefined;
    let folder = '';
    const ports = { plain: plainPort, tls: plainPort + 1 };

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sip-tls-'));
      const { key, cert } = selfSigned();
      const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
      writeFileSync(files.key, key);
      writeFileSync(files.cert, cert);
      demo = await startDemo({
        // The demo starts in an environment of its own, and is built again where that asks for it.
        SVC_BUILD_WITH: 'sip',
        SVC_SIP_ADDR: `127.0.0.1:${ports.plain}`,
        SVC_SIP_TLS_ADDR: `127.0.0.1:${ports.tls}`,
        SVC_SIP_TLS_CERT: files.cert,
        SVC_SIP_TLS_KEY: files.key,
        SVC_SIP_RTP_PORTS: '23000-23998',
      });
    });
    afterAll(async () => {
      await demo?.stop();
      rmSync(folder, { recursive: true });
    });

    const table = [
      ['UDP and PCMU', 'udp', 'PCMU/8000/1', 8_000, undefined],
      ['TCP and G.722', 'tcp', 'G722/16000/1', 16_000, undefined],
      ['UDP and Opus', 'udp', 'opus/48000/2', 48_000, undefined],
      ['TLS, SDES and PCMA', 'tls', 'PCMA/8000/1', 8_000, 'srtp-mand'],
    ] as const;

    it.concurrent.each(table)(
      'is greeted and answered over %s',
      async (_name, transport, codec, rate, keys) => {
        const port = transport === 'tls' ? ports.tls : ports.plain;
        const { text, heard } = await baresipCall({
          uri: `sip:agent@127.0.0.1:${port};transport=${transport}`,
          ...{ codec, rate, says: await spoken(demo!, 'What time is it?', { rate }), seconds: 45 },
          ...(keys !== undefined && { encryption: keys }),
        });
        expect(text).toContain('Call established');
        if (keys !== undefined) expect(text).toContain('SRTP is Enabled');
        // The greeting, and the answer behind the question.
        const said = stretches(heard, { rate, pauseMs });
        expect(said.length, said.join()).toBeGreaterThanOrEqual(2);
        expect(Math.min(...said.slice(0, 2))).toBeGreaterThan(0.5);
      },
    );

    it('is told 488 where it wants keys in the clear', async () => {
      const { text } = await baresipCall({
        uri: `sip:agent@127.0.0.1:${ports.plain}`,
        ...{
          codec: 'PCMU/8000/1',
          rate: 8_000,
          says: new Int16Array(800),
          seconds: 3,
          encryption: 'srtp-mand',
        },
      });
      expect(text).toContain('488');
    });
  },
);
