/** What `config` prints can be shown to anybody. */
import { expect, it } from 'vitest';
import { runConfig } from '../../../cli/commands/config-command.ts';

it('keeps passwords in addresses to itself, those that a start takes and those that it refuses', () => {
  const lines: string[] = [];
  const env = {
    SVC_AGENT_FILE: 'a.toml',
    SVC_CARRIER_B_HOLD_AUDIO_URL: 'https://anna:s3cr3t@voice.example/hold.mp3',
    SVC_RECORDING_UPLOAD_URL: 'https://anna:s3cr3t@s3.example/calls',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://s3cr3t@127.0.0.1:4318',
  };
  expect(runConfig({ env, cores: 2, write: (line) => void lines.push(line) })).toBe(1);
  const text = lines.join('\n');
  expect(text).not.toContain('s3cr3t');
  expect(text).toContain('https://...@voice.example/hold.mp3');
});
