/** Who may import whom; the table is in ARCHITECTURE.md. Every folder of the service stands in a rule. */
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');

/** A file is pure whose head says so (`Pure.`): what decides stands in such files, and the rule below holds them to it. */
const pureFiles = `^(worker/core/|(${execFileSync(
  'git',
  ['ls-files', '-co', 'shared/sip', 'worker', 'supervisor', 'inference', 'records'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter(
    (path) =>
      path.endsWith('.ts') && /^\/\*\*(?:(?!\*\/)[\s\S])*?[\s*]Pure[.,:;]/.test(readFileSync(path, 'utf8')),
  )
  .join('|')
  .replaceAll('.', '[.]')})$)`;
/** Files that take digests, and nothing else, from `node:crypto`. */
const hashing = '^(worker/(tools/offered-name|stages/llm/call-ids)|shared/sip/access/digest-client)[.]ts$';
/** Features that have a folder of the same name in each room: settings and shapes in `shared`, doors in `supervisor`, calls in `worker`. */
const features = '(agent-link|agents|calls|monitor|recording|rtvi|sip|telephony|tracing|webrtc)';
const declarations = `(config|protocol|audio|auth|net|languages|${features})`;
/** What a provider declares, and the list of providers, which the configuration reads. */
const providerDeclaration = '^worker/stages/(stt|llm|tts|realtime)/[^/]+/declaration[.]ts$';
const providerList = '^worker/stages/providers[.]ts$';
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true }),
    // The caller's side and the agent's meet in the dialogue alone: a model that speaks by itself can take the place of the answer.
    forbid(
      'turns-know-no-answers',
      { path: '^worker/core/turn/' },
      { path: '^worker/core/(answer|delivery|dialogue|tools|flow)/' },
    ),
    forbid(
      'answers-know-no-turns',
      { path: '^worker/core/(answer|delivery|tools|flow)/' },
      { path: '^worker/core/(turn|dialogue)/' },
    ),
    forbid(
      'base-imports-nothing',
      { path: '^shared/base/' },
      { pathNot: '^shared/base/|node_modules/(lossless-json|re2js)/' },
    ),
    forbid('languages-are-data', { path: '^shared/languages/' }, { pathNot: '^shared/(base|languages)/' }),
    forbid(
      'declarations-stay-pure',
      { path: `^shared/${declarations}/` },
      {
        pathNot: `^shared/(base|${declarations})/|node_modules/(zod|ajv|@bufbuild/protobuf|@iarna/toml|toml-eslint-parser|sdp-transform)/|^(crypto|node:crypto)$|^worker/stages/providers[.]ts$`,
      },
    ),
    forbid(
      'the-configuration-reads-the-list-of-providers-in-one-place',
      { path: '^shared/', pathNot: '^shared/config/stages/(providers|definition)[.]ts$' },
      { path: providerList },
    ),
    forbid(
      'declarations-of-providers-stay-pure',
      { path: providerDeclaration },
      { pathNot: '^shared/(base|config|audio|net)/|node_modules/zod/' },
    ),
    forbid(
      'the-list-of-providers-holds-declarations',
      { path: providerList },
      {
        pathNot: `${providerDeclaration}|^worker/stages/(stage[.]ts$|realtime/contract[.]ts$|(stt|llm|tts|realtime)/[^/]+/adapter[.]ts$)|^shared/config/stages/declaration[.]ts$`,
      },
    ),
    forbid(
      'the-list-of-providers-loads-adapters-when-they-are-asked-for',
      { path: providerList },
      { path: '/adapter[.]ts$', dependencyTypesNot: ['dynamic-import'] },
    ),
    forbid(
      'runtime-imports-base',
      { path: '^shared/runtime/' },
      { path: '^(supervisor|worker|inference|records|shared/(?!base/|net/|runtime/))' },
    ),
    forbid(
      'the-installation-is-of-no-process',
      { path: '^shared/installation/' },
      { path: '^(supervisor|worker|inference|records)/' },
    ),
    forbid(
      'the-pure-set-imports-no-world',
      { path: pureFiles },
      {
        pathNot: `^shared/(base|net|auth|protocol|config|languages|${features})/|^shared/audio/(alaw|g711|law)[.]ts$|${hashing}|node_modules/sdp-transform/|${pureFiles}`,
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'the-pure-set-takes-only-types-of-declarations',
      { path: pureFiles, pathNot: '^worker/(tools|call)/' },
      { path: '^shared/config/|/(variables|agent-file)[.]ts$', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'processes-meet-in-the-protocol',
      { path: '^supervisor/' },
      { path: '^(worker|inference|records)/' },
    ),
    forbid(
      'rehearsals-have-calls-without-sound',
      { path: '^cli/rehearsal/' },
      {
        path: '^(worker|inference)/',
        pathNot:
          '^worker/(core/|stages/|tools/|agent-link/|call/(driver|stages|tool-runs|variables)[.]ts|host/definition[.]ts|recording/(replay|facts|plain)[.]ts)',
      },
    ),
    forbid(
      'the-service-knows-no-command',
      { path: '^(supervisor|worker|inference|records|shared)/' },
      { path: '^cli/' },
    ),
    forbid(
      'commands-start-the-service-and-know-nothing-else-of-it',
      { path: '^cli/', pathNot: '^cli/(rehearsal|commands/calls)/' },
      {
        path: '^(supervisor|worker|inference|records)/',
        pathNot: '^supervisor/(service/serve|restart/(early-signals|predecessor))[.]ts$',
      },
    ),
    forbid(
      'commands-on-calls-have-their-database',
      { path: '^cli/commands/calls/' },
      {
        path: '^(supervisor|worker|inference|records)/',
        pathNot: '^records/(call-store|database|sql-call-store)[.]ts$',
      },
    ),
    forbid('rehearsals-have-no-supervisor', { path: '^cli/rehearsal/' }, { path: '^supervisor/' }),
    forbid(
      'the-host-of-calls-knows-no-adapter',
      { path: '^worker/(host|call|lines)/' },
      {
        path: '^worker/((transports|stages/(stt|llm|tts|realtime))/[^/]+|rtvi|sip|webrtc|telephony/[^/]+)/',
        pathNot: '^worker/transports/socket/',
      },
    ),
    forbid(
      'who-observes-calls-knows-the-core-and-the-contract',
      { path: '^worker/(recording/|observe/|tracing/|monitor/|calls/(?!analysis/))' },
      {
        path: '^worker/',
        pathNot:
          '^worker/(recording/|observe/|tracing/|monitor/|calls/|core/|agent-link/caller-identity[.]ts$|call/(account|observer|trace)[.]ts$|media/tap[.]ts$|media/opus/|stages/(provider-note|stage)[.]ts$|transports/(transport|conversation-message)[.]ts$)',
      },
    ),
    forbid(
      'who-analyses-calls-knows-llms-and-no-call',
      { path: '^worker/calls/analysis/' },
      {
        path: '^worker/',
        pathNot:
          '^worker/(calls/analysis/|host/(agent|definition)[.]ts$|stages/(ask-llm|failure-log|registry|stage)[.]ts$)',
      },
    ),
    forbid(
      'nobody-but-the-worker-itself-knows-who-observes',
      {
        path: '^worker/',
        pathNot: '^worker/(main[.]ts$|agents/|recording/|observe/|tracing/|monitor/|calls/)',
      },
      { path: '^worker/(recording|observe|tracing|monitor|calls)/' },
    ),
    forbid(
      'calls-ask-carriers-through-the-supervisor',
      { path: '^worker/telephony/' },
      {
        path: '^worker/',
        pathNot:
          '^worker/(telephony|core|transports/socket)/|^worker/(call/opening|tools/tool|transports/transport)[.]ts$',
      },
    ),
    forbid(
      'processes-meet-in-the-protocol-2',
      { path: '^worker/' },
      { path: '^(supervisor|inference|records)/' },
    ),
    forbid(
      'processes-meet-in-the-protocol-3',
      { path: '^inference/' },
      { path: '^(supervisor|worker|records)/' },
    ),
    forbid(
      'processes-meet-in-the-protocol-4',
      { path: '^records/' },
      { path: '^(supervisor|worker|inference)/' },
    ),
    forbid(
      'stages-know-only-their-contract',
      { path: '^worker/stages/(stt|llm|tts)/' },
      {
        path: '^worker/',
        pathNot:
          '^worker/(stages/(stage|failure|vendor-socket|http|keys|timers|connect|json|pcm-bytes|wire-names)[.]ts|stages/$1/|core/)',
      },
    ),
    forbid(
      'adapters-of-speaking-models-know-only-their-contract',
      { path: '^worker/stages/realtime/([^/]+)/' },
      {
        path: '^worker/',
        pathNot:
          '^worker/(stages/(stage|failure|vendor-socket|http|keys|timers|connect|json|pcm-bytes|wire-names)[.]ts|stages/realtime/((contract|outbox)[.]ts$|$1/)|core/)',
      },
    ),
    forbid(
      'media-knows-no-call',
      { path: '^worker/media/' },
      { path: '^worker/', pathNot: '^worker/media/' },
    ),
    forbid(
      'the-way-out-hears-nothing',
      { path: '^worker/media/out/' },
      { path: '^worker/media/', pathNot: '^worker/media/out/' },
    ),
    forbid(
      'echo-has-one-door',
      { path: '^(?!worker/media/echo/|test/)' },
      { path: '^worker/media/echo/', pathNot: '^worker/media/echo/echo[.]ts$' },
    ),
    forbid(
      'echo-knows-only-how-frames-sound',
      { path: '^worker/media/echo/' },
      { path: '^worker/media/(in|out|vad)/', pathNot: '^worker/media/vad/frame-sound[.]ts$' },
    ),
    forbid(
      'providers-do-not-know-one-another',
      { path: '^worker/stages/(stt|llm|tts)/([^/]+)/' },
      { path: '^worker/stages/(stt|llm|tts)/[^/]+/', pathNot: '^worker/stages/$1/$2/' },
    ),
    forbid(
      'what-a-stage-shares-knows-no-provider',
      { path: '^worker/stages/((stt|llm|tts|realtime)/)?[^/]+[.]ts$', pathNot: providerList },
      { path: '^worker/stages/(stt|llm|tts|realtime)/[^/]+/' },
    ),
    forbid(
      'tools-know-the-core-and-the-contract-of-stages',
      { path: '^worker/tools/' },
      { path: '^worker/', pathNot: '^worker/(tools/|core/|stages/(stage|failure|failure-log|advice)[.]ts)' },
    ),
    forbid(
      'transports-know-the-core',
      { path: '^worker/(transports/socket|transports/websocket|rtvi|sip|webrtc|telephony/[^/]+)/' },
      {
        path: '^worker/',
        pathNot:
          '^worker/($1/|telephony/frame[.]ts$|transports/socket/|core/|media/(rtp|opus)/|transports/[^/]+[.]ts$)',
      },
    ),
    // The hook alone needs React, which its users bring.
    forbid('web-stands-alone', { path: '^web/(?!client/react[.]ts$)' }, { pathNot: '^web/' }),
    forbid(
      'the-library-knows-no-page',
      { path: '^web/client/' },
      { pathNot: '^web/client/|node_modules/(@types/)?react/' },
    ),
    forbid(
      'examples-stand-alone',
      { path: '^examples/([^/]+)/' },
      { path: '^(cli|supervisor|worker|inference|records|shared|web)/' },
    ),
    forbid(
      'the-sdk-knows-only-the-tokens-of-the-service',
      { path: '^sdk/typescript/src/' },
      { pathNot: '^sdk/typescript/src/|^shared/auth/|node_modules/(@types/)?ws/|^(node:)?[a-z_]+$' },
    ),
    forbid(
      'the-service-does-not-know-the-sdk',
      { path: '^(cli|supervisor|worker|inference|records|shared|web)/' },
      { path: '^sdk/' },
    ),
    forbid(
      'tests-are-not-shipped',
      { path: '^(cli|supervisor|worker|inference|records|shared|sdk/typescript/src)/' },
      { path: '^(test|sdk/typescript/test)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
