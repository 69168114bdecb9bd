import type { JSX, RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Credential } from '../model/api.ts'
import { Mark } from '../parts/mark.tsx'

interface LoginProps {
  /** Why there is no session. */
  readonly notice: string
  /** Rejects when the server does not accept the credential. */
  readonly login: (credential: Credential) => Promise<void>
}

/** Asks for a token, or for the use of the browser's certificate. */
export function Login({ notice, login }: LoginProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const attempt = async (credential: Credential): Promise<void> => {
    setBusy(true)
    setProblem('')
    await login(credential).catch(error => {
      setProblem(problemOf(error, credential))
      setBusy(false)
      field.current?.focus()
    })
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (field.current !== null && isToken(token)) {
      field.current.value = ''
      void attempt({ token })
    } else {
      setProblem(token === '' ? 'Give a token.' : 'A token has no spaces: copy the value of "token:".')
      field.current?.focus()
    }
  }
  return (
    <main class="login">
      <form onSubmit={submit} aria-busy={isBusy}>
        <h1>
          <Mark /> Oriel
        </h1>
        {notice !== '' && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        <TokenField field={field} />
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
        <button type="button" disabled={isBusy} onClick={() => void attempt({})}>
          Use the certificate of the browser
        </button>
      </form>
    </main>
  )
}

const TokenField = ({ field }: { field: RefObject<HTMLInputElement | null> }): JSX.Element => (
  <>
    <label>
      Token
      <input
        ref={field}
        type="password"
        name="token"
        autocomplete="off"
        spellcheck={false}
        autofocus
        aria-describedby="token-help"
      />
    </label>
    <p id="token-help" class="help">
      The value of <code>token:</code> in your kubeconfig. It stays in the memory of this page.
    </p>
  </>
)

/** What a header can carry. */
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

function problemOf(error: Error & { status?: number }, { token }: Credential): string {
  const isAnonymous = error.status === 401 || /"system:anonymous"/.test(error.message)
  if (!isAnonymous) return error.message
  return token === undefined
    ? 'The browser sent no certificate that the server accepts. Import a client certificate into the browser, or use a token.'
    : 'The server does not accept this token.'
}
