import assert from 'node:assert/strict'
import { mixedText } from '../../framework/testing/mixedtext.ts'
import { check } from '../checker/check.ts'
import { environment } from '../checker/environment.ts'
import { CostExceeded, newEffort } from '../values/costtracker.ts'
import { listOf, stringType } from '../values/type.ts'
import { type CelProgram, programOf } from './program.ts'
import { Paused, Replay } from './replay.ts'

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `x${i}`)

function planned(source: string): CelProgram {
  const checked = check(source, environment({ self: listOf(stringType) }))
  assert.ok('checked' in checked, JSON.stringify(checked))
  return programOf(checked.checked, ['self'])
}

interface Run {
  readonly value?: unknown
  readonly cost?: number
  readonly isExceeded?: true
  readonly left: number
}

const effortOf = (run: (effort: { left: number }) => Omit<Run, 'left'>): Run => {
  const effort = newEffort()
  return { ...run(effort), left: effort.left }
}

const whole = (program: CelProgram, self: readonly string[], limit: number): Run =>
  effortOf(effort => outcome(() => program.run([self], limit, effort)))

function outcome(run: () => Omit<Run, 'left'>): Omit<Run, 'left'> {
  try {
    return run()
  } catch (error) {
    if (error instanceof CostExceeded) return { isExceeded: true }
    throw error
  }
}

function divided(
  program: CelProgram,
  self: readonly string[],
  limit: number,
  replay = new Replay(),
): Run & { readonly pauses: number } {
  let pauses = 0
  const run = effortOf(effort => {
    for (;;)
      try {
        return outcome(() => program.go([self], { cost: limit, effort }, replay))
      } catch (error) {
        if (!(error instanceof Paused)) throw error
        pauses++
      }
  })
  return { ...run, pauses }
}

describe('a search for a pattern', () => {
  const outcomeOf = (source: string, length: number): Run => {
    const program = planned(source)
    return whole(program, ['a'.repeat(length)], 50_000_000)
  }
  it('is refused where one call would take long', () => {
    const source = "self.all(x, x.find('[a-z]{50}[0-9]') == '')"
    assert.equal(outcomeOf(source, 10_000).value, true)
    assert.equal(outcomeOf(source, 100_000).isExceeded, true)
  })
  it('is refused where it finds too much', () => {
    const source = "self.all(x, x.findAll('a').size() > 0)"
    assert.equal(outcomeOf(source, 10_000).value, true)
    assert.equal(outcomeOf(source, 200_000).isExceeded, true)
  })
  it('may be long where it is short work', () => {
    assert.equal(outcomeOf("self.all(x, x.matches('^[a-z]*$'))", 400_000).value, true)
    assert.equal(outcomeOf("self.all(x, x.find('b') == '')", 200_000).value, true)
  })
})

describe('a match of a pattern that takes long', () => {
  const program = planned(
    "self.filter(x, x.matches('a[ab]{100}[cd]')).size() == 1 && !self.exists(x, x.matches('b[ab]{90}d'))",
  )
  const texts = ['c', 'a', 'b'].map((end, i) => `${mixedText(25_000, i)}a${mixedText(100, i)}${end}`)
  const limits = () => ({ cost: 50_000_000, effort: newEffort() })

  it('is made in a thread, and the evaluation goes on with its result', async () => {
    const replay = new Replay('alice')
    const settled = async (): Promise<unknown> => {
      for (let waits = 0; ; )
        try {
          return { ...program.go([texts], limits(), replay), waits }
        } catch (error) {
          if (!(error instanceof Paused)) throw error
          if (error.until !== undefined) waits++
          await error.until
        }
    }
    const { value, waits } = (await settled()) as { readonly value: unknown; readonly waits: number }
    assert.deepEqual({ value, waits }, { value: true, waits: 6 })
  })

  it('is made once, also where one iteration of a loop needs several', async () => {
    const several = planned("self.map(x, x.matches('a[ab]{100}[cd]') || x.matches('b[ab]{90}d')).size() == 3")
    const replay = new Replay('alice')
    let waits = 0
    const settled = async (): Promise<unknown> => {
      for (; waits < 20; )
        try {
          return several.go([texts], limits(), replay).value
        } catch (error) {
          if (!(error instanceof Paused)) throw error
          if (error.until !== undefined) waits++
          await error.until
        }
      return assert.fail('it does not end')
    }
    assert.equal(await settled(), true)
    assert.equal(waits, 5)
  })

  it('exceeds the cost without a thread', () => {
    assert.throws(() => program.run([texts], 50_000_000, newEffort()), CostExceeded)
  })
})

describe('an evaluation that is interrupted', () => {
  const sources = [
    "self.all(x, x != '')",
    'self.all(x, self.exists(y, y == x))',
    "self.map(x, self.filter(y, y == x)).filter(l, l != ['x1']).size() == 1",
    "self.filter(x, x.matches('1$')).map(x, x + x).all(x, x.size() > 1) && self.exists_one(x, x == 'x7')",
    "[1, 2, 3].all(n, self.all(x, x.startsWith('x')) && self.join(',').split(',') == self)",
    '[[self, self]].map(x, [x, x]).map(x, [x, x]) == [[self, self]].map(x, [x, x]).map(x, [x, x])',
    "self.exists(x, x == 'x900') ? self.map(x, {x: x}).all(m, m.all(k, m[k] == k)) : false",
    'self.map(x, x).sort() == self || self.distinct() == self',
  ]
  for (const source of sources)
    it(`has the value, the cost and the work of one that is not: ${source}`, () => {
      const program = planned(source)
      for (const count of [5, 200]) {
        const { pauses, ...run } = divided(program, texts(count), 50_000_000, new Replay(undefined, 100))
        assert.deepEqual(run, whole(program, texts(count), 50_000_000))
        assert.ok(count === 5 || pauses >= 1, `${pauses} pauses`)
      }
    })

  it('has the limits of one that is not', () => {
    const program = planned('self.all(x, self.all(y, self.all(z, true)))')
    const { isExceeded, pauses } = divided(program, texts(300), 1_000_000)
    assert.ok(isExceeded)
    assert.ok(pauses >= 10, `${pauses} pauses`)
  })

  it('has a limit of work for one call, which cannot be interrupted', () => {
    const doubled = (text: string): string => `[${text}].map(x, [x, x])`
    let nested = 'self'
    for (let i = 0; i < 24; i++) nested = doubled(nested)
    for (const source of [`${nested} == ${nested}`, `${nested} in [${nested}]`]) {
      const { isExceeded, left } = whole(planned(source), texts(1), 1_000_000)
      assert.ok(isExceeded)
      assert.ok(left > 40_000_000, `${left} of the effort are left`)
    }
  })

  it('has no pauses when it is short', () => {
    assert.equal(divided(planned("self.all(x, x != '')"), texts(1_000), 1_000_000).pauses, 0)
  })
})
