import assert from 'node:assert/strict'
import type { Action } from '../../framework/contract/authorizer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { fieldEquals, labelEquals } from '../../framework/selectors/selectors.ts'
import { randomFrom } from '../../test/model/random.ts'
import type { PolicyRule } from '../rbac/policyrule.ts'
import {
  action,
  binding,
  clusterBinding,
  clusterRole,
  createFixture,
  type Fixture,
  groupNamed,
  role,
  user,
  userNamed,
} from '../testing/fixture.ts'
import { createAuthorizer } from './authorizer.ts'
import type { BoundExport } from './maximalpolicy.ts'
import { createStamps } from './memory.ts'

const alice = user('alice', 'devs')
const access = clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated'))
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const reader = clusterRole('reader', readPods)
const reads = clusterBinding('reader', userNamed('alice'))
const listPods = action('list core/pods ns/')

const combinations = (...[verbs, resources, names]: readonly string[][]): [string, string, string][] =>
  (verbs ?? []).flatMap(verb =>
    (resources ?? []).flatMap(resource =>
      (names ?? []).map((name): [string, string, string] => [verb, resource, name]),
    ),
  )

describe('the authorizer with a cache', () => {
  let fixture: Fixture
  /** Asks twice, because only the second decision may come from the cache. */
  const allows = async (who: UserInfo, what: Action): Promise<boolean> => {
    const first = await fixture.allows(who, what)
    assert.equal(await fixture.allows(who, what), first)
    return first
  }
  beforeEach(() => {
    fixture = createFixture()
    for (const object of [access, reader, reads]) fixture.put('ws', object)
  })

  it('caches the decision with its reasons', () => {
    const { decide } = fixture.authorizer
    assert.equal(decide?.(alice, listPods), decide?.({ ...alice }, { ...listPods }))
    assert.deepEqual(
      decide?.(alice, listPods).trace,
      createAuthorizer(fixture.sources).decide?.(alice, listPods).trace,
    )
  })

  it('keeps nothing of megabytes: users in access reviews have any number of groups', () => {
    const decide = (who: UserInfo, what: Action) => fixture.authorizer.decide?.(who, what)
    const groups = Array.from({ length: 10_000 }, (_, i) => `g${i}`)
    const { resource } = listPods
    const [large, small] = [
      { ...alice, groups },
      { ...alice, groups: groups.slice(0, 100) },
    ]
    assert.notEqual(decide(large, listPods), decide(large, listPods))
    assert.equal(decide(small, listPods), decide(small, listPods))
    const long = { ...listPods, resource: { ...resource, name: 'a'.repeat(1e6) } } as Action
    assert.notEqual(decide(alice, long), decide(alice, long))
  })

  it('distinguishes objects by name and selectors', () => {
    const { decide } = fixture.authorizer
    const some = [
      { ...listPods, labelSelector: labelEquals('app', 'x') },
      { ...listPods, labelSelector: labelEquals('app', 'y') },
      { ...listPods, fieldSelector: fieldEquals('spec.nodeName', 'x') },
      { ...listPods, fieldSelector: fieldEquals('spec.nodeName', 'y') },
      listPods,
    ]
    for (const one of some)
      for (const other of some)
        assert.equal(decide?.(alice, one) === decide?.(alice, structuredClone(other)), one === other)
  })

  for (const [what, object] of [
    ['a role', reader],
    ['a binding', reads],
    ['access to the workspace', access],
  ] as const)
    it(`drops decisions when they depend on a deleted ${what}`, async () => {
      assert.ok(await allows(alice, listPods))
      fixture.remove('ws', object)
      assert.ok(!(await allows(alice, listPods)))
      fixture.put('ws', object)
      assert.ok(await allows(alice, listPods))
    })

  it('drops decisions when a rule or the bootstrap policy changes', async () => {
    assert.ok(await allows(alice, listPods))
    fixture.put('ws', clusterRole('reader', { ...readPods, verbs: ['get'] }))
    assert.ok(!(await allows(alice, listPods)))
    fixture.put('system:admin', clusterRole('reader', readPods))
    assert.ok(await allows(alice, listPods))
    fixture.remove('system:admin', clusterRole('reader', readPods))
    assert.ok(!(await allows(alice, listPods)))
  })

  it('decides once about the objects of a collection, and says for which one it was asked', () => {
    const { decide } = fixture.authorizer
    const [one, other] = ['a', 'b'].map(name => action(`get core/pods ns/${name}`)) as [Action, Action]
    const [first, second] = [decide?.(alice, one), decide?.(alice, other)]
    assert.deepEqual([first?.effect, first?.asked], ['allow', { user: alice, action: one }])
    assert.deepEqual(second?.asked, { user: alice, action: other })
    assert.equal(first?.trace, second?.trace)
    fixture.remove('ws', reads)
    assert.deepEqual(
      [decide?.(alice, one).effect, decide?.(alice, other).effect],
      ['no opinion', 'no opinion'],
    )
  })

  it('decides as without a cache about every name, whatever the rules', () => {
    const names = ['a', 'b', '', '*']
    const allowed = new Map<string, number>()
    for (let seed = 1; seed <= 100; seed++) {
      const { pick, some, chance, number } = randomFrom(seed)
      const ruleOf = (): PolicyRule => ({
        verbs: some(['get', 'delete', 'list', '*'], 2),
        apiGroups: [pick(['', '*', 'apps'])],
        resources: some(['pods', 'pods/log', '*'], 2),
        ...(chance(0.7) && { resourceNames: some(names, 2) }),
      })
      const count = chance(0.2) ? 40 : 1 + number(3)
      fixture.put('ws', clusterRole('reader', ...Array.from({ length: count }, ruleOf)))
      const { decide } = createAuthorizer(fixture.sources)
      for (const [verb, resource, name] of combinations(
        ['get', 'delete', 'list'],
        ['pods', 'pods/log'],
        names,
      )) {
        const asked = action(`${verb} core/${resource} ns/${name}`)
        const effect = decide?.(alice, asked).effect ?? ''
        assert.equal(fixture.authorizer.decide?.(alice, asked).effect, effect, `${seed}: ${verb} ${name}`)
        allowed.set(effect, (allowed.get(effect) ?? 0) + 1)
      }
    }
    assert.ok([...allowed.values()].every(count => count > 300) && allowed.size === 2, `${[...allowed]}`)
  })

  it('distinguishes users by every field', async () => {
    fixture.remove('ws', reads)
    fixture.put('ws', clusterBinding('reader', groupNamed('devs')))
    assert.ok(await allows(alice, listPods))
    const otherScopes = { 'authentication.kcp.io/scopes': ['cluster:other'] }
    for (const other of [
      user('alice'),
      user('alice', 'dev', 's'),
      { ...alice, groups: [alice.groups.join()] },
      { ...alice, extra: otherScopes },
    ])
      assert.ok(!(await allows(other, listPods)), JSON.stringify(other))
    const warrant = JSON.stringify(alice)
    const warranted = { ...user('bob'), extra: { 'authorization.kcp.io/warrant': [warrant] } }
    assert.ok(await allows(warranted, listPods))
    assert.ok(!(await allows({ ...warranted, extra: {} }, listPods)))
  })

  it('distinguishes actions with the same key', async () => {
    const secrets = { ...readPods, resources: ['a/b'], verbs: ['get'] }
    fixture.put('ws', clusterRole('reader', secrets))
    const asked = (resource: Partial<NonNullable<Action['resource']>>): Action => {
      const none = { group: '', version: 'v1', resource: '', subresource: '', namespace: '', name: '' }
      return { verb: 'get', cluster: 'ws', resource: { ...none, ...resource } }
    }
    assert.ok(await allows(alice, asked({ resource: 'a/b', namespace: 'c' })))
    assert.ok(!(await allows(alice, asked({ resource: 'a', namespace: 'b/c' }))))
    assert.ok(await allows(alice, asked({ resource: 'a', subresource: 'b', namespace: 'c' })))
    assert.ok(!(await allows(alice, asked({ resource: 'a', namespace: 'c' }))))
    assert.ok(!(await allows(alice, asked({ resource: 'a/b', group: 'apps', namespace: 'c' }))))
  })

  it('distinguishes deep reviews', async () => {
    fixture.remove('ws', access)
    const deep = { ...listPods, deep: true }
    assert.ok(await allows(alice, deep))
    assert.ok(!(await allows(alice, listPods)))
  })

  it('drops decisions when a Role changes', async () => {
    const inNamespace = role('ns', 'writer', { ...readPods, verbs: ['create'] })
    const create = action('create core/pods ns/')
    assert.ok(!(await allows(alice, create)))
    fixture.put('ws', inNamespace)
    fixture.put('ws', binding('ns', 'role/writer', userNamed('alice')))
    assert.ok(await allows(alice, create))
    fixture.remove('ws', inNamespace)
    assert.ok(!(await allows(alice, create)))
  })
})

describe('cached decisions that depend on phases and exports', () => {
  const phases: Record<string, string> = {}
  const bound: BoundExport[] = []
  const stamps = createStamps()
  const { sources, put } = createFixture()
  for (const object of [access, reader, reads] as KubeObject[]) put('ws', object)
  const changing = {
    ...sources,
    clusters: { phase: (cluster: string) => phases[cluster], requiredGroups: () => undefined },
    exports: { of: () => bound },
  }
  const { decide } = createAuthorizer({ ...changing, stamps })
  const effect = (): string | undefined => decide?.(alice, listPods).effect

  it('are dropped when the logical cluster changes', () => {
    phases.ws = 'Ready'
    assert.equal(effect(), 'allow')
    delete phases.ws
    assert.equal(effect(), 'allow', 'cached before the change is reported')
    stamps.changed('ws')
    assert.equal(effect(), 'no opinion')
    phases.ws = 'Ready'
    stamps.changed('ws')
    assert.equal(effect(), 'allow')
  })

  it('are dropped when a missing export is created with a policy', () => {
    bound.push({ path: 'root:provider', name: 'pods', policy: 'none' })
    stamps.changed('ws')
    assert.equal(effect(), 'allow')
    bound[0] = { path: 'root:provider', name: 'pods', cluster: 'provider', policy: 'local' }
    stamps.changed('root:provider|pods')
    assert.equal(effect(), 'no opinion')
  })
})
