import assert from 'node:assert/strict'
import { parseRequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import { type AuditRule, requirementsFor } from './policy.ts'
import { auditPolicyOf } from './policyfile.ts'

const alice: UserInfo = { name: 'alice', groups: ['devs', 'system:authenticated'] }
const info = (text: string) => {
  const [method = '', url = ''] = text.split(' ')
  const [path = '', query] = url.split('?')
  return parseRequestInfo({ method, path, query: new URLSearchParams(query) })
}
const levelOf = (rule: Omit<AuditRule, 'level'>, asked: string, user = alice) =>
  requirementsFor({ rules: [{ level: 'Metadata', ...rule }] }, user, info(asked)).level === 'Metadata'

const pods = 'GET /api/v1/namespaces/ns/pods/a'

describe('an audit policy', () => {
  const cases: readonly (readonly [Omit<AuditRule, 'level'>, string, boolean])[] = [
    [{}, pods, true],
    [{}, 'GET /healthz', true],
    [{ users: [] }, pods, true],
    [{ users: ['alice'] }, pods, true],
    [{ users: ['bob'] }, pods, false],
    [{ userGroups: ['ops', 'devs'] }, pods, true],
    [{ userGroups: ['ops'] }, pods, false],
    [{ verbs: ['get'] }, pods, true],
    [{ verbs: ['list'] }, pods, false],
    [{ verbs: ['list'] }, 'GET /api/v1/pods', true],
    [{ verbs: ['watch'] }, 'GET /api/v1/pods?watch=1', true],
    [{ namespaces: ['ns'] }, pods, true],
    [{ namespaces: ['other'] }, pods, false],
    [{ namespaces: [''] }, 'GET /api/v1/pods', true],
    [{ namespaces: ['ns'] }, 'GET /healthz', false],
    [{ resources: [{ group: '' }] }, pods, true],
    [{ resources: [{ group: 'apps' }] }, pods, false],
    [{ resources: [{ group: '', resources: ['pods'] }] }, pods, true],
    [{ resources: [{ group: '', resources: ['pods'] }] }, `${pods}/log`, false],
    [{ resources: [{ group: '', resources: ['pods/log'] }] }, `${pods}/log`, true],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, `${pods}/log`, true],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, pods, true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, `${pods}/log`, true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, pods, false],
    [{ resources: [{ group: '', resources: ['*'] }] }, `${pods}/log`, true],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['a'] }] }, pods, true],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['b'] }] }, pods, false],
    [{ nonResourceURLs: ['/healthz*'] }, 'GET /healthz/etcd', true],
    [{ nonResourceURLs: ['/healthz'] }, 'GET /healthz/etcd', false],
    [{ nonResourceURLs: ['*'] }, 'GET /version', true],
    [{ nonResourceURLs: ['*'] }, pods, false],
  ]
  for (const [rule, asked, matches] of cases)
    it(`${JSON.stringify(rule)} ${matches ? 'records' : 'ignores'} ${asked}`, () => {
      assert.equal(levelOf(rule, asked), matches)
    })

  it('takes the first rule that matches, and records nothing without one', () => {
    const policy = {
      rules: [{ level: 'None', users: ['bob'] } as const, { level: 'Request', verbs: ['get'] } as const],
    }
    assert.equal(requirementsFor(policy, { ...alice, name: 'bob' }, info(pods)).level, 'None')
    assert.equal(requirementsFor(policy, alice, info(pods)).level, 'Request')
    assert.equal(requirementsFor(policy, alice, info('GET /api/v1/pods')).level, 'None')
  })

  it('leaves out the stages of the policy and of the rule', () => {
    const policy = {
      omitStages: ['RequestReceived'] as const,
      omitManagedFields: true,
      rules: [{ level: 'Metadata', omitStages: ['ResponseStarted'], omitManagedFields: false }] as const,
    }
    const wish = requirementsFor(policy, alice, info(pods))
    assert.deepEqual([...wish.omitStages], ['RequestReceived', 'ResponseStarted'])
    assert.equal(wish.omitManagedFields, false)
  })
})

describe('a policy file', () => {
  const policy = (...rules: object[]) => ({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })
  const none = { level: 'None' }
  for (const [value, why] of [
    ['text', /the policy must be an object, not "text"/],
    [{ kind: 'Policy' }, /expected an audit.k8s.io\/v1 Policy, not nothing "Policy"/],
    [policy(), /has no rules/],
    [policy({}), /rules\[0\].level must be one of None, Metadata, Request, RequestResponse, not nothing/],
    [policy({ level: 'metadata' }), /not "metadata"/],
    [policy(none, { ...none, user: ['a'] }), /rules\[1\] has an unknown field "user"/],
    [policy({ ...none, users: 'a' }), /rules\[0\].users must be a list, not "a"/],
    [policy({ ...none, verbs: [1] }), /rules\[0\].verbs must be a list of strings, not of 1/],
    [policy({ ...none, omitStages: ['Later'] }), /must be stages of .*, not "Later"/],
    [policy({ ...none, nonResourceURLs: ['healthz'] }), /must begin with a '\/'/],
    [policy({ ...none, nonResourceURLs: ['/a*b'] }), /except at its end/],
    [policy({ ...none, nonResourceURLs: ['/a'], namespaces: ['x'] }), /both resources and nonResourceURLs/],
    [policy({ ...none, resources: [{ group: 'apps/v1' }] }), /without a version/],
    [policy({ ...none, resources: [{ resourceNames: ['a'] }] }), /requires resources/],
    [{ ...policy(none), omitStages: ['x'] }, /omitStages must be stages of/],
  ] as const)
    it(`is refused for ${why}`, () => void assert.throws(() => auditPolicyOf(value), why))

  it('is taken as it is', () => {
    const good = policy({ level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] })
    assert.deepEqual(auditPolicyOf(good), good)
  })
})
