import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Answered, askExplanation } from '../../cmd/explain/asking.ts'
import type { ShownUser } from '../model/identity.ts'
import { apiPath, type ConsolePlace } from '../model/place.ts'
import { Empty, Loading, Problem } from '../parts/basics.tsx'
import { Decision } from '../parts/decision.tsx'
import { useLoaded, useShared } from '../parts/hooks.ts'

interface Question {
  readonly user: string
  readonly groups: string
  readonly verb: string
  readonly resource: string
  readonly name: string
  readonly namespace: string
}

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'bind',
  'access',
]

const first: Question = {
  user: '',
  groups: '',
  verb: 'list',
  resource: 'configmaps',
  name: '',
  namespace: 'default',
}

interface AccessProps {
  readonly place: ConsolePlace
  readonly identity: ShownUser
}

/** Asks who may do what, and shows the decision with the steps that made it. */
export function Access({ place, identity }: AccessProps): JSX.Element {
  const [question, setQuestion] = useState<Question>(first)
  const [asked, setAsked] = useState<{ readonly question: Question; readonly time: number }>()
  const change = (part: Partial<Question>) => setQuestion({ ...question, ...part })
  const submit = (event: Event): void => {
    event.preventDefault()
    setAsked({ question, time: Date.now() })
  }
  return (
    <div class="split">
      <section class="pane" aria-label="Question">
        <header class="head">
          <h1>Access</h1>
          <span class="note">{place.scope}</span>
        </header>
        <QuestionForm question={question} change={change} identity={identity} submit={submit} />
      </section>
      <section class="pane" aria-label="Decision" aria-live="polite">
        {asked === undefined ? (
          <Empty>
            Ask whether a user may do something here. The picture shows which authorizer decided, and what is
            missing.
          </Empty>
        ) : (
          <Explained key={asked.time} scope={place.scope} question={asked.question} identity={identity} />
        )}
      </section>
    </div>
  )
}

interface QuestionFormProps {
  readonly question: Question
  readonly change: (part: Partial<Question>) => void
  readonly identity: ShownUser
  readonly submit: (event: Event) => void
}

function QuestionForm({ question, change, identity, submit }: QuestionFormProps): JSX.Element {
  return (
    <form class="question" onSubmit={submit}>
      <Text
        label="User"
        hint={`empty: ${identity.username}`}
        value={question.user}
        change={user => change({ user })}
        filter
      />
      {question.user !== '' && (
        <Text
          label="Groups"
          hint="separated by commas"
          value={question.groups}
          change={groups => change({ groups })}
        />
      )}
      <label>
        Verb
        <select value={question.verb} onChange={event => change({ verb: event.currentTarget.value })}>
          {verbs.map(verb => (
            <option key={verb}>{verb}</option>
          ))}
        </select>
      </label>
      <Text
        label="Resource"
        hint="configmaps, widgets.example.com, or a path"
        value={question.resource}
        change={resource => change({ resource })}
      />
      <Text label="Name" hint="any" value={question.name} change={name => change({ name })} />
      <Text
        label="Namespace"
        hint="empty: all"
        value={question.namespace}
        change={namespace => change({ namespace })}
      />
      <button type="submit" class="primary">
        Explain
      </button>
    </form>
  )
}

interface TextProps {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly change: (value: string) => void
  readonly filter?: boolean
}

const Text = ({ label, hint, value, change, filter }: TextProps): JSX.Element => (
  <label>
    {label}
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      placeholder={hint}
      value={value}
      data-filter={filter ? '' : undefined}
      onInput={event => change(event.currentTarget.value)}
    />
  </label>
)

interface ExplainedProps {
  readonly scope: string
  readonly question: Question
  readonly identity: ShownUser
}

function Explained({ scope, question, identity }: ExplainedProps): JSX.Element {
  const { api } = useShared()
  const { value, problem } = useLoaded('once', () => ask(api.at.bind(api), scope, question))
  if (problem !== undefined) return <Problem problem={problem} />
  if (value === undefined) return <Loading />
  return <Decision answered={value} user={question.user || identity.username} />
}

/** Sends the reviews of `oriel explain`. */
function ask(at: Parameters<typeof askExplanation>[0], scope: string, question: Question): Promise<Answered> {
  const { user, groups, verb, resource, name, namespace } = question
  const asGroup = groups
    .split(',')
    .map(group => group.trim())
    .filter(group => group !== '')
  return askExplanation(
    at,
    location.origin + apiPath(scope),
    { verb, resource: resource.trim(), ...(name.trim() !== '' && { name: name.trim() }) },
    {
      ...(user.trim() !== '' && { as: user.trim(), asGroup }),
      ...(namespace.trim() === '' ? { allNamespaces: true } : { namespace: namespace.trim() }),
    },
  )
}
