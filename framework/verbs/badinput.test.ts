import assert from 'node:assert/strict'
import fc from 'fast-check'
import { filled, partial, table } from '../../test/support/asked.ts'
import { type Asked, ask, bodyOf } from '../../test/support/widgets.ts'
import { StatusError } from '../meta/errors.ts'

const value = fc.oneof(
  fc.constantFrom('', '0', '1', 'true', 'All', 'Exact', 'NotOlderThan', 'a=b', 'a in (', 'Strict', '\u0000'),
  fc.string({ unit: 'binary' }),
)
const name = fc.constantFrom(
  ...[
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'dryRun',
  ],
  ...['fieldManager', 'fieldValidation', 'sendInitialEvents', 'pretty', 'propagationPolicy', 'includeObject'],
)
const query = fc
  .array(fc.tuple(name, value), { maxLength: 3 })
  .map(pairs => new URLSearchParams(pairs).toString())
const fragment = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    'null',
    '1e999',
    '-0',
    '9007199254740993',
    '"metadata":',
    '"a"',
  ],
  ...[
    '{"op":"add","path":"/spec/x","value":1}',
    '{"metadata":{"name":"a"}}',
    '\n',
    '- ',
    'a: ',
    '&a ',
    '*a',
    '<<: ',
  ],
)
const body = fc.oneof(
  fc.json(),
  fc.array(fragment, { maxLength: 8 }).map(parts => parts.join('')),
  fc.jsonValue().map(spec => JSON.stringify({ metadata: { name: 'a' }, spec })),
  fc.jsonValue().map(metadata => JSON.stringify({ metadata })),
)
const type = fc.constantFrom(
  ...[
    '',
    'application/json',
    'application/yaml',
    'application/merge-patch+json',
    'application/json-patch+json',
    'x',
  ],
)
const accept = fc.constantFrom(
  '',
  '*/*',
  'application/yaml',
  table,
  partial('PartialObjectMetadata'),
  ';;;=,q=x',
)
const verb = fc.constantFrom('get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection')

describe('bad input', () => {
  it('fails only with a Status', async () => {
    const resource = await filled('a')
    await fc.assert(
      fc.asyncProperty(
        fc.record({ verb, query, body, type, accept, name: fc.constantFrom('a', '', 'x') }),
        async ({ verb, query, body, type, accept, name }) => {
          const headers = { 'content-type': type, accept }
          const asked = { verb, query, body, headers, name, namespace: 'ns1' } as Asked
          try {
            await bodyOf(await ask(resource, asked))
          } catch (error) {
            assert.ok(error instanceof StatusError, String((error as Error).stack))
          }
        },
      ),
      { numRuns: 1500 },
    )
  })
})
