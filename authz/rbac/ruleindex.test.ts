import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { Action } from '../../framework/contract/authorizer.ts'
import { type Random, randomFrom } from '../../test/model/random.ts'
import { action, clusterBinding, clusterRole, createFixture, user, userNamed } from '../testing/fixture.ts'
import { type PolicyRule, ruleAllows } from './policyrule.ts'
import { RuleIndexes } from './ruleindex.ts'

const verbs = ['get', 'list', 'create', '*', '']
const groups = ['', 'apps', 'g.io', '*']
const resources = ['pods', 'jobs', 'pods/log', '*/log', '*', 'pods/*', '']
const names = ['a', 'b', '', '*']
const paths = ['/', '/a', '/a*', '/a/*', '*', '/a/b', '/a/*/b', '/a**', '']

/** Most rules allow nothing that is asked: the index has to find the others among them. */
const filler = (i: number): PolicyRule => ({ verbs: [`v${i}`], apiGroups: ['g'], resources: [`r${i}`] })

function ruleOf({ chance, pick, some }: Random): PolicyRule {
  const onPaths = chance(0.3)
  return {
    verbs: some(verbs, 4),
    ...(!onPaths && { apiGroups: some(groups, 4), resources: some(resources, 5) }),
    ...(chance(0.4) && { resourceNames: some(names, 3) }),
    ...((onPaths || chance(0.1)) && { nonResourceURLs: [pick(paths), ...some(paths, 3)] }),
  }
}

const actions: readonly Action[] = [
  ...['get', 'list', 'delete', '*', ''].flatMap(verb =>
    ['core', 'apps', '*'].flatMap(group =>
      ['pods', 'jobs', 'pods/log', 'nodes/log', '*', '*/log'].flatMap(resource =>
        ['', 'ns/a', 'ns/b', 'ns/*'].map(object => action(`${verb} ${group}/${resource} ${object}`)),
      ),
    ),
  ),
  ...['get', 'head'].flatMap(verb =>
    ['/', '/a', '/ab', '/a/', '/a/b', '/a/*/b', '/a*', '/b'].map(path => action(`${verb} ${path}`)),
  ),
  { verb: 'get', cluster: 'ws' },
]

describe('many rules', () => {
  it('allow what one of them allows', async () => {
    const indexes = new RuleIndexes()
    let allowed = 0
    for (let seed = 1; seed <= 150; seed++) {
      const random = randomFrom(seed)
      const few = Array.from({ length: 1 + random.number(3) }, () => ruleOf(random))
      const rules = [...few, ...Array.from({ length: 40 }, (_, i) => filler(i))]
      await turn()
      for (const each of actions) {
        const expected = rules.some(rule => ruleAllows(rule, each))
        assert.equal(indexes.anyAllows(rules, each), expected, JSON.stringify([seed, few, each]))
        if (expected) allowed++
      }
    }
    assert.ok(allowed > 1_000 && allowed < 0.5 * 150 * actions.length, `${allowed} actions are allowed`)
  })

  it('are not compared one by one, whatever they have in common', async () => {
    let read = 0
    const counted = (rule: PolicyRule): PolicyRule => ({
      ...rule,
      get verbs() {
        read++
        return rule.verbs
      },
    })
    const [apiGroups, count] = [[''], 1_000]
    const { decide, put, rbac } = createFixture()
    for (let role = 0; role < 10; role++) {
      const rules = Array.from({ length: count }, (_, i): readonly PolicyRule[] => [
        { verbs: ['get'], apiGroups, resources: ['configmaps'], resourceNames: [`a${i}`] },
        { verbs: [`v${i}`], apiGroups, resources: ['configmaps'] },
        { verbs: ['get'], apiGroups: [`g${i}`], resources: ['configmaps'] },
        { verbs: ['get'], apiGroups, resources: [`r${i}`] },
        { verbs: ['get'], nonResourceURLs: [`/a${i}*`] },
      ])
      put('ws', clusterRole(`r${role}`, ...rules.flat()))
      put('ws', clusterBinding(`r${role}`, userNamed('ann')))
    }
    put('ws', clusterRole('access', { verbs: ['access'], nonResourceURLs: ['/'] }))
    put('ws', clusterBinding('access', userNamed('ann')))
    for (let role = 0; role < 10; role++) {
      const rules = rbac.clusterRole('ws', `r${role}`) as PolicyRule[]
      for (const [i, rule] of rules.entries()) rules[i] = counted(rule)
    }
    const ask = async (what: string) => (await decide(user('ann'), action(what))).effect
    for (let asked = 0; asked < 12; asked++) {
      await ask(`get core/configmaps ns/b${asked}`)
      await turn()
    }
    read = 0
    assert.equal(await ask('get core/configmaps ns/c'), 'no opinion')
    assert.equal(await ask('get /b'), 'no opinion')
    assert.equal(await ask('get core/configmaps ns/a7'), 'allow')
    assert.equal(await ask('get /a7/b'), 'allow')
    assert.ok(read < 1_000, `${read} rules were read`)
  })
})
