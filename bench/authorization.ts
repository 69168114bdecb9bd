import {
  action,
  binding,
  clusterBinding,
  createFixture,
  groupNamed,
  role,
  userNamed,
} from '../authz/testing/fixture.ts'
import type { Action, Authorizer } from '../framework/contract/authorizer.ts'
import type { UserInfo } from '../framework/request/user.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { percentile } from './tools/statistics.ts'

const namespaces = 100
const rounds = 20_000
const { signal } = new AbortController()

/** A user with ten groups and one role binding. */
const user: UserInfo = {
  name: 'user-7',
  groups: [...Array.from({ length: 9 }, (_, i) => `team-${i}`), 'system:authenticated'],
}

/** A workspace with this many role bindings, each of another user; `shared` of them also name one group of the user. */
function workspace(bindings: number, shared: number): Authorizer {
  const fixture = createFixture()
  fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
  for (let i = 0; i < namespaces; i++) {
    const rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }
    fixture.put('ws', role(`ns-${i}`, 'reader', rule))
  }
  for (let i = 0; i < bindings; i++) {
    const subjects = [userNamed(`user-${i}`), ...(i < shared ? [groupNamed('team-0')] : [])]
    const made = binding(`ns-${i % namespaces}`, 'role/reader', ...subjects)
    fixture.put('ws', { ...made, metadata: { ...made.metadata, name: `binding-${i}` } })
  }
  return fixture.authorizer
}

/** Half of them are allowed by a RoleBinding, and half refused. `names`: the number of different object names. */
const questions = (names: number): readonly Action[] =>
  Array.from({ length: names }, (_, i) => action(`${i % 2 ? 'get' : 'delete'} core/configmaps ns-7/a${i}`))

/** Microseconds of each decision. */
async function measure(authorizer: Authorizer, asked: readonly Action[]): Promise<readonly number[]> {
  const taken: number[] = []
  for (let i = 0; i < rounds; i++) {
    const each = asked[i % asked.length] ?? action('get /')
    const begin = performance.now()
    await authorizer.authorize(user, each, signal)
    taken.push((performance.now() - begin) * 1000)
  }
  // The first half is for the compiler.
  return taken.slice(rounds / 2)
}

const rowsOf = (bindings: number, kind: string, what: string, taken: readonly number[]): readonly Row[] =>
  [50, 99].map(share => ({
    id: `authorization/${bindings}${kind}/p${share}`,
    measure: `one decision among ${bindings} role bindings${what}, p${share}`,
    value: percentile(taken, share / 100),
    unit: 'µs',
    ...(bindings === 10_000 && share === 50 ? { target: { atMost: 50 } } : {}),
  }))

/** The cost of the whole chain for a request, in process: for a new request, and for one that was decided before. */
export const authorization: Benchmark = async ({ progress }) => {
  const rows: Row[] = []
  const [different, two] = [questions(rounds), questions(2)]
  for (const bindings of [10, 10_000]) {
    progress(`${bindings} role bindings`)
    const authorizer = workspace(bindings, 0)
    rows.push(...rowsOf(bindings, '', '', await measure(authorizer, different)))
    rows.push(...rowsOf(bindings, '-again', ', asked again', await measure(authorizer, two)))
  }
  progress('10000 role bindings of one group')
  const shared = await measure(workspace(10_000, 10_000), different)
  return [
    ...rows,
    ...rowsOf(10_000, '-shared', ' that name a group of the user, 100 in the namespace', shared),
  ]
}
