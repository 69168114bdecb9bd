import type { JSX } from 'preact'
import type { ExplainedMissing, ExplainedStep } from '../../authz/index.ts'
import type { Answered } from '../../cmd/explain/asking.ts'

interface DecisionProps {
  readonly answered: Answered
  readonly user: string
}

/** A decision as a picture: the question, each step in its order with its opinion, and the result. */
export function Decision({ answered: { question, explained, warnings }, user }: DecisionProps): JSX.Element {
  const { allowed, reason, explanation } = explained
  const { steps = [], missing = [], limited } = explanation ?? {}
  return (
    <>
      <ol class="trace">
        <li class="step ask">
          <span class="dot" aria-hidden="true" />
          <div>
            <strong>{user}</strong>
            <p>{question.words}</p>
            {warnings.map(warning => (
              <p key={warning}>Warning: {warning}</p>
            ))}
          </div>
        </li>
        {steps.map((step, i) => (
          <Step key={i} step={step} />
        ))}
        <li class={allowed ? 'step result allowed' : 'step result denied'}>
          <span class="dot" aria-hidden="true" />
          <div>
            <strong>{allowed ? 'Allowed' : 'Denied'}</strong>
            {explanation === undefined && (
              <p>{reason === '' ? 'The server returns no explanation.' : reason}</p>
            )}
            {limited && (
              <p>The steps are shown to users who may create subjectaccessreviews in this workspace.</p>
            )}
          </div>
        </li>
      </ol>
      {missing.map((entry, i) => (
        <Missing key={i} entry={entry} />
      ))}
    </>
  )
}

const words = {
  Allowed: 'allowed',
  Denied: 'denied',
  NoOpinion: 'no opinion',
  Withheld: 'not shown',
} as const

const isOfView = ({ authorizer }: ExplainedStep): boolean => authorizer.startsWith('virtual.')

/** A step that delegated to the next one has passed. */
function Step({ step }: { step: ExplainedStep }): JSX.Element {
  const { authorizer, decision, reason, workspace } = step
  const passed = /^delegating due to (.*)$/s.exec(reason)
  const tone = passed === null ? decision.toLowerCase() : 'passed'
  const isInner = !isOfView(step) && workspace !== undefined
  return (
    <li class={`step ${tone}${isInner ? ' inner' : ''}`}>
      <span class="dot" aria-hidden="true" />
      <div>
        <strong>{authorizer}</strong>
        <span class="opinion">{passed === null ? words[decision] : 'passed'}</span>
        {workspace !== undefined && <code class="note">{workspace}</code>}
        <p>{passed === null ? reason.replace(/: $/, '') : passed[1]}</p>
      </div>
    </li>
  )
}

function Missing({ entry }: { entry: ExplainedMissing }): JSX.Element {
  const { authorizer, workspace, otherWorkspace, why, grant } = entry
  return (
    <section class="card missing">
      <header>
        <h2>Missing</h2>
        <span class="note">
          {otherWorkspace && workspace !== '' ? `${authorizer}, in ${workspace}` : authorizer}
        </span>
      </header>
      <p>{why}</p>
      {grant.length > 0 && (
        <>
          <p class="note">These objects grant it: save them as a file for kubectl apply -f.</p>
          <textarea
            readOnly
            aria-label="Objects that grant it"
            rows={12}
            spellcheck={false}
            value={JSON.stringify({ apiVersion: 'v1', kind: 'List', items: grant }, undefined, 2)}
          />
        </>
      )}
    </section>
  )
}
