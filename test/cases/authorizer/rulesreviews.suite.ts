import assert from 'node:assert/strict'
import { bound, type People } from '../../support/people.ts'
import { apply } from '../../support/tenants.ts'
import { access, askRules, at, everything, hasRule, type Reviewed, rulesOf } from './scene.ts'

export const rulesReviews = (people: People): void => {
  describe('TestSelfSubjectRulesReview', () => {
    const robot = 'system:serviceaccount:default:default'
    const home = 'authentication.kcp.io/cluster-name'
    const scopes = 'authentication.kcp.io/scopes'
    const warrant = { 'authorization.kcp.io/warrant': '{"user":"x","groups":["system:kcp:admin"]}' }
    const groups = ['system:kcp:admin']
    const rows: Readonly<Record<string, readonly [boolean, (here: string) => Reviewed]>> = {
      'a user': [true, () => ({ user: 'user-5', groups })],
      'a user in scope': [true, here => ({ user: 'user-5', groups, extra: { [scopes]: `cluster:${here}` } })],
      'a service account': [true, () => ({ user: robot, groups })],
      'a local service account': [true, here => ({ user: robot, groups, extra: { [home]: here } })],
      'a foreign one with a warrant': [true, () => ({ user: robot, extra: { [home]: 'other', ...warrant } })],
      'a user out of scope': [false, () => ({ user: 'user-5', groups, extra: { [scopes]: 'cluster:root' } })],
      'a foreign service account': [false, () => ({ user: robot, groups, extra: { [home]: 'other' } })],
      'an administrator scoped elsewhere': [
        false,
        () => ({ user: 'kcp-admin', groups, extra: { [scopes]: 'cluster:other' } }),
      ],
      'a local service account scoped elsewhere': [
        false,
        here => ({ user: robot, groups, extra: { [home]: here, [scopes]: 'cluster:other' } }),
      ],
    }
    let here = ''
    before(async () => {
      here = await people.admin(['get', 'workspace', 'org1', '-o', 'jsonpath={.spec.cluster}'])
      assert.equal(
        (await askRules(people, at('org1'), rows['a user out of scope']?.[1](here) as Reviewed)).status,
        403,
      )
      await apply(people.admin.at(at('org1')), bound(access, 'group:system:authenticated'))
    })
    for (const [what, [all, reviewed]] of Object.entries(rows))
      it(`lists ${all ? 'all rules' : 'the rules of all users'} for ${what}`, async () => {
        const rules = await rulesOf(people, at('org1'), reviewed(here))
        const text = JSON.stringify(rules)
        assert.equal(hasRule(rules, everything), all, text)
        assert.match(text, /"selfsubjectrulesreviews"/)
      })
  })
}
