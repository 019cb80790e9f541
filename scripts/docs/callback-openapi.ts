/** The OpenAPI document of the callback listener, made of the schemas that check its requests. `npm run docs` writes it. */
import * as z from 'zod';
import {
  callbackError,
  outboundRequest,
  outboundView,
  transferView,
} from '../../shared/telephony/callback-api.ts';

type Json = Readonly<Record<string, unknown>>;

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as Json;
  return rest;
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, schema: Json): Json => ({ description, content: json(schema) });
const refusal = (description: string): Json => answer(description, ref('Error'));
const listOf = (name: string, of: string): Json => ({
  type: 'object',
  properties: { [name]: { type: 'array', items: ref(of) } },
  required: [name],
});
const accepted = (name: string): Json => ({
  type: 'object',
  properties: { [name]: { type: 'string' }, accepted: { const: true } },
  required: [name, 'accepted'],
});
const inPath = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
});

const transferCommand = (summary: string): Json => ({
  post: {
    summary,
    parameters: [inPath('handle')],
    responses: {
      202: answer('It is being done; GET /transfers says how far it is.', accepted('handle')),
      404: refusal('`unknown`: there is no such transfer, or it is over.'),
      409: refusal(
        '`not_answered`: no person is known to have answered. `not_possible`: a step is under way; ask again.',
      ),
    },
  },
});

const callsPaths: Json = {
  '/calls': {
    get: {
      summary: 'Calls that the service makes, and the newest that are over.',
      responses: { 200: answer('The calls; none has a number.', listOf('calls', 'OutboundCall')) },
    },
    post: {
      summary: 'Makes a call. The agent starts when a person answers.',
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'A request that is repeated with its key makes no second call.',
          schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
        },
      ],
      requestBody: { required: true, content: json(ref('OutboundRequest')) },
      responses: {
        202: answer('It rings, or may ring where the carrier gave no answer.', ref('OutboundCall')),
        400: refusal(
          '`bad_request`: the field that is wrong, and its rule. `carrier`: which one is not clear.',
        ),
        403: refusal(
          '`not_allowed`: SVC_OUTBOUND_ALLOW does not have the number. `other_site`: a page of another site asked.',
        ),
        404: refusal('`off`: no calls are made.'),
        409: refusal('`busy`: a call to that number is under way. `key_reused`.'),
        413: refusal('`too_large`.'),
        429: refusal('`rate_limited`: see Retry-After.'),
        502: refusal('`refused`: the carrier did not make the call; nothing has happened.'),
        503: refusal(
          '`not_ready`: the service takes no calls. `full`. `unsure`: an instance that does not answer took this Idempotency-Key.',
        ),
      },
    },
  },
  '/calls/{id}': {
    get: {
      summary: 'One call.',
      parameters: [inPath('id')],
      responses: { 200: answer('The call.', ref('OutboundCall')), 404: refusal('`not_found`.') },
    },
  },
  '/calls/{id}/hang_up': {
    post: {
      summary: 'Ends a call.',
      parameters: [inPath('id')],
      responses: {
        202: answer('It is being ended.', accepted('id')),
        404: refusal('`not_found`.'),
        409: refusal('`over`: the call is over.'),
      },
    },
  },
};

const document: Json = {
  openapi: '3.1.0',
  info: {
    title: 'Callback listener',
    version: '1',
    description:
      'Warm transfers and calls that the service makes. Every answer that is no success has a code and a message; 401 is answered wherever the secret is wrong.',
  },
  security: [{ bearer: [] }, { basic: [] }],
  paths: {
    '/transfers': {
      get: {
        summary: 'Warm transfers that are not over.',
        responses: {
          200: answer('The transfers; none has a number.', listOf('transfers', 'Transfer')),
          401: refusal('`unauthorized`.'),
        },
      },
    },
    '/transfers/{handle}/complete_warm': transferCommand(
      'Joins the caller and the destination, which a person has answered.',
    ),
    '/transfers/{handle}/abort_warm': transferCommand(
      "Ends the destination's leg and brings the caller back to the agent.",
    ),
    ...callsPaths,
    '/desk': {
      get: {
        summary: 'A page that accepts and declines warm transfers. It asks for the secret itself.',
        security: [],
        responses: { 200: { description: 'The page.', content: { 'text/html': {} } } },
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'SVC_CALLBACK_SECRET.' },
      basic: {
        type: 'http',
        scheme: 'basic',
        description: 'Any name, with SVC_CALLBACK_SECRET as the password.',
      },
    },
    schemas: {
      Error: schemaOf(callbackError),
      OutboundCall: schemaOf(outboundView),
      OutboundRequest: schemaOf(outboundRequest),
      Transfer: schemaOf(transferView),
    },
  },
};

export const callbackOpenApi = (): string => `${JSON.stringify(document, null, 2)}\n`;
