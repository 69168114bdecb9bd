import assert from 'node:assert/strict'
import { ViewMistake } from './viewfailure.ts'
import { defineVirtualWorkspace, type Host, type WorkspaceDefinition } from './workspace.ts'

const apis = () => undefined
const made = (definition: unknown) =>
  defineVirtualWorkspace(
    'team',
    '/services/team',
    () => definition as WorkspaceDefinition<'/services/team'>,
  )({} as Host)

describe('the definition of a view', () => {
  const mistakes: readonly (readonly [what: string, definition: () => unknown, message: RegExp])[] = [
    [
      'nothing',
      () => undefined,
      /must be built by a function that returns its members, but it returned undefined$/,
    ],
    ['null', () => null, /returned null$/],
    ['a list', () => [], /returned a list$/],
    [
      'no apis',
      () => ({}),
      /^the view "team" has no "apis": add apis: \(\) => apiSetOf\(\[…\]\), which returns/,
    ],
    [
      'a misspelled member',
      () => ({ apis, autorize: () => true }),
      /has the unknown member "autorize": the members are apis, authorize,/,
    ],
    [
      'a member of another type',
      () => ({ apis, authorize: true }),
      /must have a function as "authorize", but has true$/,
    ],
    [
      'resources instead of a function',
      () => ({ apis: { resources: [] } }),
      /must have a function as "apis", but has an object$/,
    ],
    [
      'one admission plugin',
      () => ({ apis, admission: {} }),
      /must have a list as "admission", but has an object$/,
    ],
    [
      'another value of otherwise',
      () => ({ apis, otherwise: 'proxy' }),
      /must have "not found" or "forward" as "otherwise", but has proxy$/,
    ],
    [
      'a promise',
      () => Promise.resolve({ apis }),
      /is built by an async function: load what it needs in run\(\)/,
    ],
    ['a rejected promise', () => Promise.reject(new Error('x')), /is built by an async function/],
  ]
  for (const [what, definition, message] of mistakes)
    it(`is refused: ${what}`, () => {
      assert.throws(
        () => made(definition()),
        (error: unknown) => {
          assert.ok(error instanceof ViewMistake)
          assert.match(error.message, message)
          assert.equal(typeof error.culprit, 'function')
          return true
        },
      )
    })

  it('may leave out all members but apis', () => {
    const { name, path } = made({ apis, authorize: undefined, otherwise: 'forward' })
    assert.deepEqual([name, path.pattern], ['team', '/services/team'])
  })
})
