/** A UDP port of a worker that another program has fails the start, by the name of its variable. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { tryMediaPorts } from '../../../supervisor/webrtc/media-ports.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { parseServerSettings, type ServerSettings } from '../../../shared/config/server/server.ts';

const settingsAt = (port: number): ServerSettings => {
  const env = {
    SVC_AGENT_FILE: 'agent.toml',
    SVC_WEBRTC_ADDR: '127.0.0.1:0',
    SVC_WEBRTC_UDP_ADDR: `127.0.0.1:${port}`,
    SVC_SPARE_WORKER: 'off',
  };
  const parsed = parseServerSettings(env, { cores: 1 });
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join());
  return parsed.value.settings;
};

/** Time passes when somebody waits for it. */
function waiting(looked: () => void = () => undefined): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    after: (ms, wake) => {
      nowMs += ms;
      looked();
      setImmediate(wake);
      return { cancel: () => undefined };
    },
  };
}

it('waits for a port that workers of a killed supervisor still have', async () => {
  const left = createSocket('udp4');
  left.bind(0, '127.0.0.1');
  await once(left, 'listening');
  let looks = 0;
  const clock = waiting(() => {
    looks += 1;
    if (looks === 30) left.close();
  });
  await expect(tryMediaPorts(settingsAt(left.address().port), 1, clock)).resolves.toBeUndefined();
});

it('names the variable and the port, whichever worker would have it', async () => {
  const other = createSocket('udp4');
  other.bind(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address();
  const refusal = `SVC_WEBRTC_UDP_ADDR: cannot listen on 127.0.0.1:${port}: another program`;
  await expect(tryMediaPorts(settingsAt(port), 1, waiting())).rejects.toThrow(refusal);
  await expect(tryMediaPorts(settingsAt(port - 1), 2, waiting())).rejects.toThrow(refusal);
  await new Promise<void>((closed) => void other.close(closed));
  await expect(tryMediaPorts(settingsAt(port), 1, waiting())).resolves.toBeUndefined();
});

it('asks for no port where each worker takes any', async () => {
  await expect(tryMediaPorts(settingsAt(0), 2, waiting())).resolves.toBeUndefined();
});

it('names it where the row would reach beyond the last port', async () => {
  await expect(tryMediaPorts(settingsAt(65_535), 2, waiting())).rejects.toThrow(
    /^SVC_WEBRTC_UDP_ADDR: .* 2 ports/,
  );
});
