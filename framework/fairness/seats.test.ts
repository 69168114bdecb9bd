import assert from 'node:assert/strict'
import { stopClocks } from '../../test/support/time/clocks.ts'
import { createLifetime, type Lifetime } from '../async/lifetime.ts'
import { type Refused, Seat, Seats } from './seats.ts'

interface Asked {
  readonly workspace?: string
  readonly isSystem?: boolean
  readonly lifetime?: Lifetime
}

function seatsOf(seats: number, longestWait = 60_000) {
  const outcomes: string[] = []
  const pool = new Seats({ seats, longestWait, left: (_, rejection) => outcomes.push(rejection ?? 'seated') })
  const enter = (user: string, { workspace = '/a', isSystem = false, lifetime }: Asked = {}) =>
    pool.enter({ user, workspace, isSystem, lifetime: lifetime ?? createLifetime() })
  /** A seat that is there at once. */
  const seat = (user: string, asked?: Asked): Seat => {
    const found = enter(user, asked)
    assert.ok(found instanceof Seat, `${user} has a seat`)
    return found
  }
  /** As many seats as the user gets at once; the last request stays in the queue. */
  const fill = (user: string, asked?: Asked): readonly Seat[] => {
    const taken: Seat[] = []
    for (let found = enter(user, asked); found instanceof Seat; found = enter(user, asked)) taken.push(found)
    return taken
  }
  const refusal = (user: string): Refused => {
    const found = enter(user)
    assert.ok(!(found instanceof Promise) && 'reason' in found, `${user} is refused`)
    return found
  }
  return { pool, outcomes, enter, seat, fill, refusal }
}

const settled = async (promise: unknown): Promise<unknown> =>
  Promise.race([promise, new Promise(resolve => setImmediate(resolve, 'waiting'))])

describe('the seats of requests', () => {
  it('are shared: one user gets a third for one workspace and half in all, and others find some', () => {
    const { fill } = seatsOf(60)
    assert.equal(fill('eve').length, 20)
    assert.equal(fill('eve', { workspace: '/b' }).length, 7)
    assert.ok(fill('alice', { workspace: '/c' }).length >= 10)
    assert.ok(fill('bob', { workspace: '/d' }).length >= 4)
  })

  it('are kept by requests that have ended until their work has', async () => {
    const { seat, pool } = seatsOf(60)
    const [aborted, answered] = [seat('eve'), seat('eve')]
    const work: (() => void)[] = []
    const open = (): Promise<void> => new Promise(resolve => work.push(resolve))
    void aborted.keepFor(open())
    void answered.keepFor(open().then(() => assert.fail('work that fails')))
    aborted.leave()
    assert.equal(pool.all.executing, 2)
    for (const end of work) end()
    await settled(new Promise(() => undefined))
    assert.equal(pool.all.executing, 1)
    answered.leave()
    answered.leave()
    assert.equal(pool.all.executing, 0)
  })

  it('are given back five minutes after the end of a request whose work never ends', () => {
    const clocks = stopClocks()
    try {
      const { seat, pool } = seatsOf(60)
      const first = seat('eve')
      void first.keepFor(new Promise(() => undefined))
      clocks.pass(600_000)
      first.leave()
      clocks.pass(299_999)
      assert.equal(pool.all.executing, 1)
      clocks.pass(1)
      assert.equal(pool.all.executing, 0)
    } finally {
      clocks.restore()
    }
  })

  it('are left for others by many users of one workspace', () => {
    const { fill, seat, pool } = seatsOf(60)
    for (let i = 0; i < 100; i++) fill(`eve-${i}`)
    assert.ok(pool.all.executing <= 31)
    seat('alice', { workspace: '/b' })
  })

  it('are left for others by a user of many workspaces', () => {
    const { fill, seat, pool } = seatsOf(60)
    for (let i = 0; i < 100; i++) fill('eve', { workspace: `/${i}` })
    assert.ok(pool.all.executing <= 30)
    seat('alice', { workspace: '/1' })
  })

  it('that become free are given to the user with the fewest', async () => {
    const { fill, enter, seat } = seatsOf(8)
    const heavy = [...fill('eve'), ...fill('eve', { workspace: '/b' })]
    const others = ['alice', 'bob', 'dave', 'erin'].map((user, i) => seat(user, { workspace: `/${i}` }))
    const again = enter('eve', { workspace: '/c' })
    const light = enter('carol', { workspace: '/d' })
    others[0]?.leave()
    assert.ok((await settled(light)) instanceof Seat)
    assert.equal(await settled(again), 'waiting')
    assert.ok(heavy.length > 0)
  })

  it('are refused when the queue has no place for the user, and others find one', async () => {
    const { seat, enter, refusal, outcomes } = seatsOf(2)
    seat('eve')
    const queued = enter('eve')
    assert.equal(refusal('eve').reason, 'queue-full')
    assert.deepEqual(outcomes, ['queue-full'])
    assert.equal(await settled(queued), 'waiting')
    seat('alice', { workspace: '/b' })
    assert.equal(await settled(enter('bob', { workspace: '/b' })), 'waiting')
  })

  it('are refused after a time in the queue, with a time after which to try again', async () => {
    const { seat, enter } = seatsOf(1, 5)
    seat('eve')
    const late = (await enter('eve')) as Refused
    assert.deepEqual(late, { reason: 'time-out', retryAfter: 1 })
  })

  it('are not given to requests that have ended', async () => {
    const { seat, enter, pool } = seatsOf(1)
    const first = seat('eve')
    const lifetime = createLifetime()
    const gone = enter('alice', { lifetime, workspace: '/b' })
    lifetime.end('client gone')
    assert.equal(((await gone) as Refused).reason, 'cancelled')
    first.leave()
    assert.deepEqual({ ...pool.all }, { executing: 0, waiting: 0, stalled: 0 })
    seat('bob')
  })

  it('have a reserve for the system', () => {
    const { fill, seat, pool } = seatsOf(20)
    for (let i = 0; i < 100; i++) fill(`eve-${i}`, { workspace: `/${i}` })
    assert.equal(pool.all.executing, 20)
    seat('admin', { isSystem: true })
    seat('admin', { isSystem: true })
    assert.ok(fill('admin', { isSystem: true }).length === 0)
  })

  it('are given back by requests that wait for their client, up to a share of these', async () => {
    const { seat, pool } = seatsOf(3)
    for (let i = 0; i < 10; i++) {
      const found = pool.enter({ user: 'eve', workspace: '/a', isSystem: false, lifetime: createLifetime() })
      if (found instanceof Seat) found.pause()
    }
    assert.ok(pool.all.stalled >= 1 && pool.all.stalled < 3)
    seat('alice', { workspace: '/b' })
  })

  it('are taken again when there is one', async () => {
    const { seat, pool } = seatsOf(1)
    const first = seat('eve')
    first.pause()
    const second = seat('alice', { workspace: '/b' })
    const resumed = first.resume()
    assert.equal(await settled(resumed), 'waiting')
    second.leave()
    assert.equal(await settled(resumed), undefined)
    assert.deepEqual({ ...pool.all }, { executing: 1, waiting: 0, stalled: 0 })
    first.leave()
    first.leave()
    assert.deepEqual({ ...pool.all }, { executing: 0, waiting: 0, stalled: 0 })
  })

  it('are taken back from requests that end while they wait for their client', async () => {
    const { seat, pool } = seatsOf(1)
    const lifetime = createLifetime()
    const first = seat('eve', { lifetime })
    first.pause()
    const second = seat('alice', { workspace: '/b' })
    const resumed = first.resume()
    lifetime.end('deadline')
    assert.equal(await settled(resumed), undefined)
    first.leave()
    second.leave()
    assert.deepEqual({ ...pool.all }, { executing: 0, waiting: 0, stalled: 0 })
  })

  it('are any number without a limit', () => {
    const { seat } = seatsOf(0)
    for (let i = 0; i < 1000; i++) seat('eve')
  })

  it('remove users without requests', () => {
    const { pool } = seatsOf(10)
    for (let i = 0; i < 10_000; i++) {
      const found = pool.enter({
        user: `user-${i}`,
        workspace: `/${i}`,
        isSystem: false,
        lifetime: createLifetime(),
      })
      if (found instanceof Seat) found.leave()
    }
    assert.ok([...pool.flows.all()].length <= 2000)
  })

  it('count each request once, whatever happens', async () => {
    const { pool } = seatsOf(7)
    const users = ['a', 'b', 'c', 'd']
    let state = 1
    const random = (below: number): number => {
      state = (state * 48271) % 2147483647
      return state % below
    }
    const open: { readonly seat: Seat; readonly lifetime: Lifetime }[] = []
    const entering: Promise<unknown>[] = []
    const act = [
      () => {
        const lifetime = createLifetime()
        const claim = {
          user: users[random(4)] as string,
          workspace: `/${random(3)}`,
          isSystem: random(9) === 0,
          lifetime,
        }
        const found = pool.enter(claim)
        const keep = (seat: Seat | Refused): void => {
          if (seat instanceof Seat) open.push({ seat, lifetime })
        }
        if (found instanceof Promise) {
          entering.push(found.then(keep))
          if (random(3) === 0) lifetime.end('client gone')
        } else keep(found)
      },
      () => open[random(open.length || 1)]?.seat.pause(),
      () => void open[random(open.length || 1)]?.seat.resume(),
      () => open.splice(random(open.length || 1), 1)[0]?.seat.leave(),
    ]
    for (let i = 0; i < 5000; i++) {
      act[random(4)]?.()
      if (i % 7 === 0) await settled(undefined)
      assert.ok(pool.all.executing <= 8 && pool.all.waiting <= 16 && pool.all.stalled <= 7)
    }
    while (open.length > 0 || pool.all.waiting > 0) {
      const last = open.pop()
      last?.lifetime.end('client gone')
      last?.seat.leave()
      await settled(undefined)
    }
    await Promise.all(entering)
    assert.deepEqual({ ...pool.all }, { executing: 0, waiting: 0, stalled: 0 })
    for (const flow of pool.flows.all())
      for (const counts of [flow, flow.user, flow.share])
        assert.equal(counts.executing + counts.waiting + counts.stalled, 0)
  })
})
