import type { UserInfo } from '../../framework/request/user.ts'
import type { Random } from './random.ts'
import { people, specialGroups, teams } from './vocabulary.ts'
import { names } from './world.ts'

/** A user, a service account or the anonymous user, with the extra that tokens and proxies may add. */
export function createUser(random: Random): UserInfo {
  const known = random.chance(0.85)
  const robot = random.chance(0.25)
  const name = !known ? 'system:anonymous' : robot ? 'system:serviceaccount:ns1:robot' : random.pick(people)
  const own = robot ? ['system:serviceaccounts', 'system:serviceaccounts:ns1'] : random.some(teams, 2)
  const special = random.chance(0.12) ? [random.pick(specialGroups)] : []
  const masters = random.chance(0.03) ? ['system:masters'] : []
  const base = known ? 'system:authenticated' : 'system:unauthenticated'
  const extra = extraOf(random, robot)
  return {
    name,
    groups: [...own, ...special, ...masters, base],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function extraOf(random: Random, robot: boolean): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {}
  const home = [random.pick(names), ...(random.chance(0.1) ? [random.pick(names)] : [])]
  if (robot ? random.chance(0.8) : random.chance(0.1)) extra['authentication.kcp.io/cluster-name'] = home
  if (random.chance(0.25)) extra['authentication.kcp.io/scopes'] = scopesOf(random)
  if (random.chance(0.15)) extra['authorization.kcp.io/warrant'] = [warrantOf(random)]
  return extra
}

function scopesOf(random: Random): readonly string[] {
  const one = (): string =>
    random
      .some([...names, ...names], 3)
      .map(name => `cluster:${name}`)
      .join(',')
  return [one(), ...random.some([0], 1).map(one)]
}

function warrantOf(random: Random): string {
  if (random.chance(0.1)) return random.pick(['', 'null', '{"user":1}', '{"groups":"dev"}', '[]'])
  const { name, groups, extra } = createUser(random)
  return JSON.stringify({
    user: name,
    groups: groups.filter(group => group !== 'system:masters'),
    ...(extra && { extra }),
  })
}
