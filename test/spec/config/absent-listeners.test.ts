/** Spec 03, Server environment variables, and spec 01, Other listeners: variables of listeners that this build does not have. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { runConfig } from '../../../supervisor/commands/config-command.ts';

const rows: readonly (readonly [string, readonly string[]])[] = [
  [
    'no ICE-TCP listener',
    [
      'SVC_WEBRTC_TCP_ADDR',
      'SVC_WEBRTC_TCP_CANDIDATE_PORT',
      'SVC_WEBRTC_TCP_MAX_CONNECTIONS',
      'SVC_WEBRTC_TCP_MAX_PER_IP',
      'SVC_WEBRTC_TCP_IDLE_TIMEOUT',
      'SVC_WEBRTC_TCP_MAX_FRAME',
      'SVC_WEBRTC_TCP_QUEUE',
    ],
  ],
  [
    'no relays',
    [
      'SVC_WEBRTC_TURN_RELAY',
      'SVC_WEBRTC_TURN_RELAY_TIMEOUT',
      'SVC_TURN_PROVIDER',
      'SVC_TURN_TTL',
      'SVC_TURN_URLS',
      'SVC_TURN_SECRET',
      'SVC_TURN_CDN_KEY_ID',
      'SVC_TURN_CDN_API_TOKEN',
      'SVC_TURN_CARRIER_A_ACCOUNT_SID',
      'SVC_TURN_CARRIER_A_AUTH_TOKEN',
      'SVC_TURN_CARRIER_A_API_KEY_SID',
      'SVC_LOG_TURN_CLIENT',
    ],
  ],
];

describe('a variable of a listener that this build does not have refuses the start', () => {
  it.each(rows.flatMap(([lacked, names]) => names.map((name) => [name, lacked] as const)))(
    '%s: this build has %s',
    (name, lacked) => {
      const parsed = parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', [name]: 'canary' }, { cores: 2 });
      expect(parsed).toEqual({
        ok: false,
        error: [{ variable: name, message: `${name} must not be set: this build has ${lacked}` }],
      });
    },
  );

  it('each is named, and none is taken for another listener', () => {
    const said: string[] = [];
    const env = {
      SVC_AGENT_FILE: 'agent.toml',
      SVC_TURN_SECRET: 'canary',
      SVC_WEBRTC_TCP_ADDR: '127.0.0.1:2',
    };
    expect(runConfig({ env, cores: 2, write: (line) => said.push(line) })).toBe(1);
    expect(said.filter((line) => /^(error|warning)/.test(line))).toEqual([
      'error: SVC_TURN_SECRET must not be set: this build has no relays',
      'error: SVC_WEBRTC_TCP_ADDR must not be set: this build has no ICE-TCP listener',
    ]);
  });
});
