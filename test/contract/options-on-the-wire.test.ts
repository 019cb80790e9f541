/**
 * The options of providers (docs/reference/agent-file.md): every key, from a line of the agent file to the bytes that a server gets. A key that no
 * row looks at fails the test.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { loadAgentFile } from '../../shared/config/load.ts';
import { declarations } from '../../shared/config/stages/providers.ts';
import { stageDefinitions } from '../../worker/host/definition.ts';
import { loadAdapters, loadRealtime, openStages, ownStageServices } from '../../worker/stages/registry.ts';
import { Observed } from '../support/process/observed.ts';
import { newStageContext } from '../support/core/stage-context.ts';

/** The keys of each options table. */
const specified: Readonly<Record<string, string>> = {
  stt_cloud_a: 'model endpointing_ms utterance_end_ms smart_format diarize keyterms region base_url',
  stt_cloud_b:
    'speech_model region keyterms format_turns diarize min_turn_silence_ms max_turn_silence_ms base_url',
  stt_cloud_c: 'model region code_switching vocabulary endpointing_ms base_url',
  stt_local_ws: 'base_url path sample_rate finalize_timeout_ms finalize_padding_ms',
  stt_realtime_compat:
    'dialect base_url path_and_query model prompt punctuation delta_replaces min_commit_ms finalize_timeout_ms sample_rate',
  llm_responses: 'model reasoning_effort max_output_tokens parallel_tool_calls service_tier base_url',
  llm_messages: 'model max_tokens effort thinking base_url',
  llm_generate: 'model thinking_level max_output_tokens temperature base_url',
  chat_compatible:
    'preset base_url model max_tokens temperature reasoning_effort router_order router_allow_fallbacks',
  tts_cloud_a: 'model max_buffer_delay_ms url',
  tts_cloud_b: 'model stability similarity_boost style speed use_speaker_boost url',
  tts_cloud_c: 'speed url',
  speech_compatible: 'base_url preset model speed format first_audio_timeout_ms warm_text warm_interval_ms',
  openai_realtime:
    'dialect base_url path_and_query model audio_format speed reasoning_effort transcription_model max_output_tokens',
  gemini_live:
    'model thinking_level temperature max_output_tokens context_tokens project location seeding context_update base_url',
};

/** Keys that change no byte, and the test that shows what they do change. */
const elsewhere: Readonly<Record<string, string>> = {
  'stt_cloud_a.region': 'the host: test/spec/config/options-tables.test.ts',
  'stt_cloud_b.region': 'the host: test/spec/config/options-tables.test.ts',
  'stt_local_ws.finalize_timeout_ms': 'a wait: test/contract/stt/stt-local-ws.test.ts',
  'stt_realtime_compat.finalize_timeout_ms': 'a wait: test/contract/stt/stt-suite.ts',
  'stt_realtime_compat.delta_replaces': 'how answers are read: test/unit/stages/stt-wires.test.ts',
  'chat_compatible.preset': 'the host: test/unit/config/stages.test.ts',
  'chat_compatible.router_order': 'goes to the router alone: test/unit/stages/chat-request.test.ts',
  'chat_compatible.router_allow_fallbacks': 'goes to the router alone: test/unit/stages/chat-request.test.ts',
  'speech_compatible.first_audio_timeout_ms': 'a wait: test/contract/tts/speech-compatible.test.ts',
  'speech_compatible.warm_interval_ms': 'a wait: test/contract/tts/speech-compatible.test.ts',
  'gemini_live.context_update': 'what the session can do: test/contract/realtime/gemini-tools.test.ts',
};

interface Row {
  /** `provider.key`. */
  readonly key: string;
  /** Lines of the options table; `ADDRESS` is that of the server. */
  readonly lines: string;
  /** What the server must have got, somewhere in addresses and messages. */
  readonly sees: string | RegExp;
}

const row = (key: string, lines: string, sees: string | RegExp): Row => ({ key, lines, sees });

const rows: readonly Row[] = [
  row('stt_cloud_a.base_url', '', '/v1/listen?'),
  row('stt_cloud_a.model', 'model = "nova-9"', 'model=nova-9'),
  row('stt_cloud_a.endpointing_ms', 'endpointing_ms = 450', 'endpointing=450'),
  row('stt_cloud_a.utterance_end_ms', 'utterance_end_ms = 1200', 'utterance_end_ms=1200'),
  row('stt_cloud_a.smart_format', 'smart_format = false', 'smart_format=false'),
  row('stt_cloud_a.diarize', 'diarize = true', 'diarize=true'),
  row('stt_cloud_a.keyterms', 'keyterms = ["Zeynep"]', 'keyterm=Zeynep'),
  row('stt_cloud_b.base_url', '', '/v3/ws?'),
  row('stt_cloud_b.speech_model', 'speech_model = "u9"', 'speech_model=u9'),
  row('stt_cloud_b.keyterms', 'keyterms = ["Zeynep"]', 'keyterms_prompt=%5B%22Zeynep%22%5D'),
  row(
    'stt_cloud_b.format_turns',
    'speech_model = "universal-streaming-english"\nformat_turns = true',
    'format_turns=true',
  ),
  row('stt_cloud_b.diarize', 'diarize = true', 'speaker_labels=true'),
  row('stt_cloud_b.min_turn_silence_ms', 'min_turn_silence_ms = 321', 'min_turn_silence=321'),
  row('stt_cloud_b.max_turn_silence_ms', 'max_turn_silence_ms = 987', 'max_turn_silence=987'),
  row('stt_cloud_c.base_url', '', 'POST /v2/live'),
  row('stt_cloud_c.model', 'model = "solaria-9"', '"model":"solaria-9"'),
  row('stt_cloud_c.region', 'region = "us_west"', '/v2/live?region=us-west'),
  row('stt_cloud_c.code_switching', 'code_switching = true', '"code_switching":true'),
  row('stt_cloud_c.vocabulary', 'vocabulary = ["Zeynep"]', '"vocabulary":["Zeynep"]'),
  row('stt_cloud_c.endpointing_ms', 'endpointing_ms = 250', '"endpointing":0.25'),
  row('stt_local_ws.base_url', '', 'UPGRADE / '),
  row('stt_local_ws.path', 'path = "/asr"', 'UPGRADE /asr '),
  // The last frame of half a second, in 32-bit floats at this rate.
  row('stt_local_ws.sample_rate', 'sample_rate = 8000', `binary ${0.1 * 8_000 * 4}`),
  row('stt_local_ws.finalize_padding_ms', 'finalize_padding_ms = 50', `binary ${0.05 * 16_000 * 4}`),
  row('stt_realtime_compat.base_url', '', '/v1/realtime'),
  row('stt_realtime_compat.dialect', 'dialect = "dialect_c"\nmodel = "m9"', 'UPGRADE /v1/realtime .'),
  row('stt_realtime_compat.path_and_query', 'path_and_query = "/x?y=1"', 'UPGRADE /x?y=1 '),
  row('stt_realtime_compat.model', 'model = "m9"', '"model":"m9"'),
  row('stt_realtime_compat.prompt', 'prompt = "Acme"', '"prompt":"Acme"'),
  row(
    'stt_realtime_compat.punctuation',
    'dialect = "dialect_b"\npunctuation = false',
    '"enable_automatic_punctuation":false',
  ),
  row('stt_realtime_compat.min_commit_ms', 'min_commit_ms = 2000', / of 12[78]\d{3}$/m),
  row('stt_realtime_compat.sample_rate', 'sample_rate = 16000', '16000'),
  row('llm_responses.base_url', '', 'POST /responses'),
  row('llm_responses.model', 'model = "m9"', '"model":"m9"'),
  row('llm_responses.reasoning_effort', 'reasoning_effort = "xhigh"', '"effort":"xhigh"'),
  row('llm_responses.max_output_tokens', 'max_output_tokens = 321', '"max_output_tokens":321'),
  row('llm_responses.parallel_tool_calls', 'parallel_tool_calls = false', '"parallel_tool_calls":false'),
  row('llm_responses.service_tier', 'service_tier = "priority"', '"service_tier":"priority"'),
  row('llm_messages.base_url', '', 'POST /v1/messages'),
  row('llm_messages.model', 'model = "m9"', '"model":"m9"'),
  row('llm_messages.max_tokens', 'max_tokens = 321', '"max_tokens":321'),
  row('llm_messages.effort', 'effort = "max"\nthinking = "adaptive"', '"effort":"max"'),
  row('llm_messages.thinking', 'thinking = "adaptive"', '"thinking":{"type":"adaptive"'),
  row('llm_generate.base_url', '', 'POST /v1beta/models/'),
  row('llm_generate.model', 'model = "m9"', '/models/m9:streamGenerateContent'),
  row('llm_generate.thinking_level', 'thinking_level = "high"', '"thinkingLevel":"HIGH"'),
  row('llm_generate.max_output_tokens', 'max_output_tokens = 321', '"maxOutputTokens":321'),
  row('llm_generate.temperature', 'temperature = 1.5', '"temperature":1.5'),
  row('chat_compatible.base_url', '', 'POST /chat/completions'),
  row('chat_compatible.model', 'model = "m9"', '"model":"m9"'),
  row('chat_compatible.max_tokens', 'max_tokens = 321', /"max(_completion)?_tokens":321/),
  row('chat_compatible.temperature', 'temperature = 1.5', '"temperature":1.5'),
  row('chat_compatible.reasoning_effort', 'reasoning_effort = "low"', '"reasoning_effort":"low"'),
  row('tts_cloud_a.url', '', 'UPGRADE /tts/websocket '),
  row('tts_cloud_a.model', 'model = "m9"', '"model_id":"m9"'),
  row('tts_cloud_a.max_buffer_delay_ms', 'max_buffer_delay_ms = 321', '"max_buffer_delay_ms":321'),
  row('tts_cloud_b.url', '', '/v1/text-to-speech/v9/multi-stream-input'),
  row('tts_cloud_b.model', 'model = "m9"', 'model_id=m9'),
  row('tts_cloud_b.stability', 'stability = 0.25', '"stability":0.25'),
  row('tts_cloud_b.similarity_boost', 'similarity_boost = 0.25', '"similarity_boost":0.25'),
  row('tts_cloud_b.style', 'style = 0.25', '"style":0.25'),
  row('tts_cloud_b.speed', 'speed = 0.75', '"speed":0.75'),
  row('tts_cloud_b.use_speaker_boost', 'use_speaker_boost = false', '"use_speaker_boost":false'),
  row('tts_cloud_c.url', '', 'UPGRADE /v1/speak?'),
  row('tts_cloud_c.speed', 'speed = 0.75', 'speed=0.75'),
  row('speech_compatible.base_url', '', 'POST /v1/audio/speech'),
  row('speech_compatible.preset', 'preset = "local_c"', '"model":"chatterbox"'),
  row('speech_compatible.model', 'model = "m9"', '"model":"m9"'),
  row('speech_compatible.speed', 'speed = 0.75', '"speed":0.75'),
  row('speech_compatible.format', 'format = "wav"', '"response_format":"wav"'),
  row('speech_compatible.warm_text', 'warm_text = "Anybody?"', '"input":"Anybody?"'),
  row('openai_realtime.base_url', '', 'UPGRADE /v1/realtime?model='),
  row('openai_realtime.dialect', 'dialect = "speaches"\nmodel = "m"', '"input_audio_format":"pcm16"'),
  row('openai_realtime.path_and_query', 'path_and_query = "/x?y=1"', 'UPGRADE /x?y=1 '),
  row('openai_realtime.model', 'model = "m9"', '?model=m9'),
  row('openai_realtime.audio_format', 'audio_format = "pcmu"', '"format":{"type":"audio/pcmu"}'),
  row('openai_realtime.speed', 'speed = 0.75', '"speed":0.75'),
  row('openai_realtime.reasoning_effort', 'reasoning_effort = "xhigh"', '"effort":"xhigh"'),
  row('openai_realtime.transcription_model', 'transcription_model = "t9"', '"transcription":{"model":"t9"'),
  row('openai_realtime.max_output_tokens', 'max_output_tokens = 321', '"max_output_tokens":321'),
  row('gemini_live.base_url', '', 'UPGRADE /ws/google.ai.generativelanguage'),
  row('gemini_live.model', 'model = "gemini-9"', '"model":"models/gemini-9"'),
  row(
    'gemini_live.thinking_level',
    'model = "gemini-3.1-x"\nthinking_level = "high"',
    /"thinkingLevel":"high"/i,
  ),
  row('gemini_live.temperature', 'temperature = 1.5', '"temperature":1.5'),
  row('gemini_live.max_output_tokens', 'max_output_tokens = 321', '"maxOutputTokens":321'),
  row('gemini_live.context_tokens', 'context_tokens = 54321', '54321'),
  row('gemini_live.project', 'project = "p9"\nlocation = "global"', 'projects/p9/'),
  row('gemini_live.location', 'project = "p9"\nlocation = "europe-west4"', 'locations/europe-west4/'),
  row('gemini_live.seeding', 'seeding = "history"', 'nitialHistory'),
];

/** Takes whatever comes, and says as little as keeps a client talking. */
class Recorder extends Observed {
  record = '';
  /** Characters of audio in messages. */
  private appended = 0;
  private readonly sockets = new WebSocketServer({ noServer: true });
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      this.note(`${request.method} ${request.url} ${body}`);
      if (request.url?.startsWith('/v2/live') === true)
        response.writeHead(201, { 'content-type': 'application/json' }).end(`{"url":"ws://${this.host}/s"}`);
    });
  });

  constructor() {
    super();
    this.server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined);
      this.sockets.handleUpgrade(request, socket, head, (peer) => {
        this.note(`UPGRADE ${request.url} .`);
        peer.on('message', (data: Buffer, isBinary) => {
          const text = isBinary ? `binary ${data.length}` : data.toString();
          const appended = /"audio":\s*"([^"]*)"/.exec(text)?.[1];
          this.appended += appended?.length ?? 0;
          this.note(appended === undefined ? text : `append ${appended.length} of ${this.appended}`);
          if (text.includes('session.update')) peer.send('{"type":"session.updated","session":{}}');
        });
        for (const type of ['session.created', 'conversation.created', 'Begin'])
          peer.send(JSON.stringify({ type, id: 's', session: {}, expires_at: 9_999_999_999 }));
      });
    });
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => resolve()));
  }

  close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private note(line: string): void {
    this.record += `${line}\n`;
    this.changed();
  }
}

const stageOf = (provider: string): 'stt' | 'llm' | 'tts' | 'realtime' =>
  provider === 'openai_realtime' || provider === 'gemini_live'
    ? 'realtime'
    : provider.startsWith('stt')
      ? 'stt'
      : provider.startsWith('llm') || provider.startsWith('chat')
        ? 'llm'
        : 'tts';

const usual = {
  stt: '[stt]\nprovider = "stt_local_ws"',
  llm: '[llm]\nprovider = "llm_generate"\napi_key_env = "KEY"',
  tts: '[tts]\nprovider = "tts_cloud_c"\napi_key_env = "KEY"\nvoice = "v9"\nsample_rate = 8000',
};

/** An agent file with this options table; what the table needs besides is added. */
function fileOf(provider: string, lines: string, host: string): string {
  const stage = stageOf(provider);
  const isSocket =
    (stage === 'stt' && provider !== 'stt_cloud_c') || provider.startsWith('tts') || stage === 'realtime';
  const address = `${stage === 'tts' && isSocket ? 'url' : 'base_url'} = "${isSocket ? 'ws' : 'http'}://${host}${provider === 'speech_compatible' ? '/v1' : ''}"`;
  const isNamed = /^model =/m.test(lines) || lines.includes('preset =') || lines.includes('dialect =');
  // Over an open network, even to this machine, that voice is sent no key.
  const hasKey = provider !== 'speech_compatible';
  const needsModel = ['speech_compatible', 'chat_compatible', 'openai_realtime'].includes(provider);
  const model = needsModel && !isNamed ? 'model = "m"' : '';
  const head = `[${stage}]\nprovider = "${provider}"${hasKey ? '\napi_key_env = "KEY"' : ''}${stage === 'tts' ? '\nvoice = "v9"' : ''}${stage === 'realtime' ? '\nwords = "vendor"' : ''}`;
  const table = `[${stage}.${provider}]\n${address}\n${model}\n${lines}`;
  const others = Object.entries(usual).flatMap(([name, text]) => (name === stage ? [] : [text]));
  return ['[agent]\nname = "a"\nlanguage = "en"\nprompt = "p"', ...others, head, table].join('\n');
}

describe('the options of providers', () => {
  it('are the ones that are declared, and every one of them is looked at', () => {
    const declared = Object.values(declarations)
      .flat()
      .map(({ name, keys }) => {
        const { properties = {} } = z.toJSONSchema(keys, { io: 'input' });
        return [name, Object.keys(properties).sort()];
      });
    const wanted = Object.entries(specified).map(([provider, keys]) => [provider, keys.split(' ').sort()]);
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(wanted));
    const all = Object.entries(specified).flatMap(([provider, keys]) =>
      keys.split(' ').map((key) => `${provider}.${key}`),
    );
    // 79 of the specification, `diarize` twice, and those of models that speak.
    expect(all.length).toBe(100);
    const looked = [...rows.map(({ key }) => key), ...Object.keys(elsewhere)];
    expect(looked.sort()).toEqual(all.sort());
  });

  describe('reach the server', () => {
    let server: Recorder;
    beforeEach(async () => {
      server = new Recorder();
      await server.start();
    });
    afterEach(() => server.close());

    it.each(rows)('$key', async ({ key, lines, sees }) => {
      const [provider = ''] = key.split('.');
      const loaded = loadAgentFile(fileOf(provider, lines, server.host), {
        env: { KEY: 'k' },
        readFile: () => undefined,
        readBytes: () => undefined,
        requireSecrets: true,
        leftOut: [],
      });
      expect(loaded.problems).toEqual([]);
      const definitions = stageDefinitions(loaded.definition!);
      const stages = openStages(definitions, await loadAdapters(definitions), ownStageServices());
      const context = newStageContext();
      const stage = stageOf(provider);
      let end = (): void => undefined;
      if (stage === 'stt') {
        const session = stages.stt.open(context, () => undefined);
        for (let chunk = 0; chunk < 25; chunk += 1) session.audio(new Int16Array(320).fill(100));
        session.finalize();
        end = () => session.close();
      } else if (stage === 'realtime') {
        const model = await loadRealtime(definitions.realtime!);
        const history = [{ role: 'user', text: 'Hello.' }] as const;
        const session = model.open(context, { instructions: 'i', tools: [], history }, () => undefined);
        end = () => session.close();
      } else if (stage === 'tts') {
        const session = stages.tts.open(context, () => undefined);
        if (!key.endsWith('warm_text')) session.speak(1, 'Hello there.');
        end = () => session.close();
      } else {
        const tools = [{ name: 'f', description: 'd', parameters: { type: 'object', properties: {} } }];
        const round = stages.llm
          .open(context, { conversation: 'c1' })
          .start({ messages: [{ role: 'user', text: 'Hello' }], tools }, () => undefined);
        end = () => round.cancel();
      }
      const isSeen = (): boolean =>
        typeof sees === 'string' ? server.record.includes(sees) : sees.test(server.record);
      await Promise.race([server.until(isSeen), new Promise((resolve) => setTimeout(resolve, 3_000))]);
      expect(server.record).toMatch(sees);
      end();
      context.end();
      await Promise.all([stages.stt.close(), stages.llm.close(), stages.tts.close()]);
    });
  });
});
