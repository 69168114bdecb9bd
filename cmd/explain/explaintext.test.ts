import assert from 'node:assert/strict'
import type { ExplainedStep } from '../../authz/index.ts'
import { explainText } from './explaintext.ts'

const question = { attributes: {}, words: 'list widgets through apiexport' }
const step = (
  authorizer: string,
  decision: ExplainedStep['decision'],
  workspace?: string,
): ExplainedStep => ({
  authorizer,
  decision,
  reason: 'why',
  ...(workspace === undefined ? {} : { workspace }),
})

describe('the text of an explanation', () => {
  it('has the steps of a view with their workspaces, and below them the steps of its reviews', () => {
    const explanation = {
      allowed: false,
      steps: [
        step('virtual.apiexport.boundapi', 'Withheld'),
        step('virtual.apiexport.content', 'NoOpinion', 'abc'),
        step('02-content', 'NoOpinion', 'abc'),
      ],
      missing: [
        {
          authorizer: 'others',
          workspace: '',
          otherWorkspace: true as const,
          why: 'Others decide.',
          grant: [],
        },
      ],
    }
    assert.equal(
      explainText({ allowed: false, reason: 'access denied', explanation }, question, 'bob'),
      [
        'No: "bob" may not list widgets through apiexport.',
        '',
        'Decisions:',
        '  virtual.apiexport.boundapi  not shown: why',
        '  virtual.apiexport.content   did not allow: why, in abc',
        '    02-content                did not allow: why',
        '',
        'Missing (others):',
        '  Others decide.',
        '',
      ].join('\n'),
    )
  })

  it('has the steps of a workspace', () => {
    const explanation = { allowed: true, steps: [step('05-local', 'Allowed')], missing: [] }
    const text = explainText({ allowed: true, reason: '', explanation }, question, undefined)
    assert.equal(
      text,
      'Yes: You may list widgets through apiexport.\n\nDecisions:\n  05-local  allowed: why\n',
    )
  })
})
