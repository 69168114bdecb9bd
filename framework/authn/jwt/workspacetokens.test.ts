import assert from 'node:assert/strict'
import { type Issuer, startIssuer } from '../../../test/support/servers/issuer.ts'
import type { Item } from '../../contract/item.ts'
import { silent } from '../../contract/log.ts'
import { createAddressPolicy } from '../../net/addresspolicy.ts'
import { TokenError } from '../token.ts'
import type { ExpressionCompiler } from './config.ts'
import { workspaceTokens } from './workspacetokens.ts'

/** Expressions that cost one each; the budget of a token is three. */
function compiler(): ExpressionCompiler & { evaluated: number } {
  const counting = {
    evaluated: 0,
    newBudget: () => ({ cost: 3, effort: { left: 0 } }),
    compile: () => ({
      reads: () => false,
      async evaluate(_value: unknown, budget: { cost: number }) {
        if (budget.cost-- <= 0) throw new Error('cost limit exceeded')
        counting.evaluated++
        return false
      },
    }),
  }
  return counting
}

function configuration({ url, ca }: Issuer, issuers: number): Item {
  const entry = {
    issuer: { url, certificateAuthority: ca, audiences: ['oriel'] },
    claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } },
    claimValidationRules: [{ expression: 'false', message: 'no' }],
  }
  const object = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceAuthenticationConfiguration',
    metadata: { name: 'many' },
    spec: { jwt: Array.from({ length: issuers }, () => entry) },
  }
  const key = { cluster: 'c1', namespace: '', name: 'many' }
  const meta = { ...key, uid: '1', resourceVersion: '1', labels: {}, annotations: {} }
  return { key, meta, object, bytes: Buffer.alloc(0) }
}

describe('a token of a tenant', () => {
  let idp: Issuer
  before(async () => {
    idp = await startIssuer()
  })
  after(() => idp.stop())

  it('has one cost budget for the expressions of all entries with its issuer', async () => {
    const expressions = compiler()
    const read = workspaceTokens({
      configurationsOf: () => [configuration(idp, 9)],
      compiler: expressions,
      forbidden: [],
      addresses: createAddressPolicy({ allow: ['127.0.0.1', '::1', 'localhost'] }),
      log: silent,
    })
    const token = await idp.token({ sub: 'bob' })
    const signal = new AbortController().signal
    await assert.rejects(
      async () => read(token, { cluster: 'c1', signal } as Parameters<typeof read>[1]),
      error => error instanceof TokenError && /cost limit exceeded/.test(error.message),
    )
    assert.equal(expressions.evaluated, 3)
  })
})
