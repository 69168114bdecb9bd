import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { eventually } from '../../../test/support/oriel.ts'
import { type Issuer, startIssuer } from '../../../test/support/servers/issuer.ts'
import { stopClocks } from '../../../test/support/time/clocks.ts'
import type { Item } from '../../contract/item.ts'
import { silent } from '../../contract/log.ts'
import { StatusError } from '../../meta/errors.ts'
import { createAddressPolicy } from '../../net/addresspolicy.ts'
import { TokenError } from '../token.ts'
import type { ExpressionCompiler } from './config.ts'
import { workspaceTokens } from './workspacetokens.ts'

interface Counting extends ExpressionCompiler {
  compiled: number
  evaluated: number
}

/** Expressions that cost one each, of the budget of a token. */
function compiler(budget: number): Counting {
  const counting = {
    compiled: 0,
    evaluated: 0,
    newBudget: () => ({ cost: budget, effort: { left: 0 } }),
    compile: () => {
      counting.compiled++
      return {
        reads: () => false,
        async evaluate(_value: unknown, left: { cost: number }) {
          if (left.cost-- <= 0) throw new Error('cost limit exceeded')
          counting.evaluated++
          return false
        },
      }
    },
  }
  return counting
}

type Server = Pick<Issuer, 'url' | 'ca'>

/** With an entry for each of these issuers, which accepts no token. */
function configuration(
  issuers: readonly Server[],
  name = 'many',
  audiences = ['oriel'],
  expression = 'false',
): Item {
  const jwt = issuers.map(({ url, ca }) => ({
    issuer: { url, certificateAuthority: ca, audiences, audienceMatchPolicy: 'MatchAny' },
    claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } },
    claimValidationRules: [{ expression, message: 'no' }],
  }))
  const object = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceAuthenticationConfiguration',
    metadata: { name },
    spec: { jwt },
  }
  const key = { cluster: 'c1', namespace: '', name }
  const meta = { ...key, uid: name, resourceVersion: '1', labels: {}, annotations: {} }
  return { key, meta, object, bytes: Buffer.alloc(0) }
}

const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)

/** A token without a signature. */
const forged = (iss: string): string =>
  `e30.${Buffer.from(JSON.stringify({ iss })).toString('base64url')}.AAAA`

describe('a token of a tenant', () => {
  let idp: Issuer
  let others: readonly Server[]
  before(async () => {
    idp = await startIssuer()
    others = Array.from({ length: 60 }, (_, i) => ({ url: `https://localhost:1/${i}`, ca: idp.ca }))
  })
  after(() => idp.stop())

  const readerOf = (expressions: ExpressionCompiler, configurations: readonly Item[]) => {
    const read = workspaceTokens({
      configurationsOf: () => configurations,
      compiler: expressions,
      forbidden: [],
      addresses: createAddressPolicy({ allow: ['127.0.0.1', '::1', 'localhost'] }),
      log: silent,
    })
    return async (token: string, source = '') => read(token, { cluster: 'c1', source })
  }

  const refused = (read: Promise<unknown>, why: RegExp): Promise<void> =>
    assert.rejects(read, error => error instanceof TokenError && why.test(error.message))

  it('has one cost budget for the expressions of all entries with its issuer', async () => {
    const expressions = compiler(3)
    const read = readerOf(expressions, [configuration(times(9, idp))])
    await refused(read(await idp.token({ sub: 'bob' })), /cost limit exceeded/)
    assert.equal(expressions.evaluated, 3)
  })

  it('is checked by the first 16 entries with its issuer', async () => {
    const expressions = compiler(1_000)
    const names = ['a', 'b', 'c']
    const read = readerOf(
      expressions,
      names.map(name => configuration(times(9, idp), name)),
    )
    await refused(read(await idp.token({ sub: 'bob' })), /validation expression/)
    assert.deepEqual([expressions.compiled, expressions.evaluated], [16, 16])
  })

  it('is verified with twenty keys at most, of all entries with its issuer', async () => {
    const many = await startIssuer({ anonymousKeys: true, algorithm: 'ES256' })
    for (let i = 0; i < 12; i++) await many.rotate('published')
    const read = readerOf(compiler(1_000), [configuration(times(16, many))])
    const [head, claims] = (await many.token({ sub: 'bob' })).split('.')
    const verify = mock.method(crypto.subtle, 'verify')
    try {
      await refused(read(`${head}.${claims}.AAAA`), /multiple matching keys/)
      assert.equal(verify.mock.callCount(), 20)
    } finally {
      verify.mock.restore()
      await many.stop()
    }
  })

  it('compiles only the entries with its issuer, once', async () => {
    const expressions = compiler(1_000)
    const read = readerOf(expressions, [configuration([...others, idp])])
    for (const sub of ['bob', 'eve']) await refused(read(await idp.token({ sub })), /validation expression/)
    assert.deepEqual([expressions.compiled, expressions.evaluated], [1, 2])
    assert.equal(await read(await idp.token({ sub: 'bob', iss: 'https://nobody' })), undefined)
    assert.equal(expressions.compiled, 1)
  })

  it('is decoded once, however many issuers there are', async () => {
    const read = readerOf(compiler(0), [configuration(others)])
    const token = await idp.token({ sub: 'bob' })
    const parse = mock.method(JSON, 'parse')
    try {
      assert.equal(await read(token), undefined)
      assert.equal(parse.mock.callCount(), 1)
    } finally {
      parse.mock.restore()
    }
  })

  it('is not valid by a configuration with too many audiences', async () => {
    const audiences = Array.from({ length: 1_001 }, (_, i) => `oriel${i}`)
    const read = readerOf(compiler(9), [configuration([idp], 'many', audiences)])
    assert.equal(await read(await idp.token({ sub: 'bob', aud: 'oriel7' })), undefined)
  })

  it('has few issuers of one logical cluster compiled, whoever sends it', async () => {
    const clocks = stopClocks()
    try {
      const expressions = compiler(9)
      const entries = Array.from({ length: 90 }, (_, i) => ({ url: `http://localhost/${i}`, ca: idp.ca }))
      const rule = `"${'x'.repeat(16_000)}" == ""`
      const configurations = entries.map((entry, i) => configuration([entry], `c${i}`, ['a'], rule))
      const read = readerOf(expressions, configurations)
      const outcomes = await Promise.allSettled(entries.map(async ({ url }) => read(forged(url))))
      const refusals = outcomes.filter(({ status }) => status === 'rejected')
      assert.equal(refusals.length, 90 - expressions.compiled)
      assert.ok(expressions.compiled < 60)
      clocks.pass(60_000)
      for (const { url } of entries.slice(80)) await read(forged(url))
    } finally {
      clocks.restore()
    }
  })

  it('leaves seats for those of others while issuers do not answer', async () => {
    const silent = await startIssuer()
    silent.answer('silence')
    const servers = Array.from({ length: 120 }, (_, i) => ({ url: `${silent.url}/${i}`, ca: silent.ca }))
    const read = readerOf(compiler(9), [
      configuration(servers.slice(0, 60), 'some'),
      configuration(servers.slice(60), 'more'),
    ])
    const refusals: unknown[] = []
    const ask = (url: string, source: string): void =>
      void read(forged(url), source).catch(error => refusals.push(error))
    for (const { url } of servers.slice(1)) ask(url, 'a')
    await eventually(
      async () => refusals.length,
      count => count >= 119 - 64,
    )
    assert.ok(refusals.every(error => error instanceof StatusError && error.code === 429))
    assert.ok(silent.asked.size <= 32)
    ask(`${silent.url}/0`, 'b')
    await eventually(
      async () => silent.asked.has('/0/.well-known/openid-configuration'),
      isAsked => isAsked,
    )
    await silent.stop()
  })
})
