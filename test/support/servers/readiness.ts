import { get } from 'node:https'
import { text } from 'node:stream/consumers'

/** The body of `/readyz?verbose`, with any certificate; '' without an answer. */
export const readiness = (url: string): Promise<string> =>
  new Promise(resolve => {
    get(`${url}/readyz?verbose`, { rejectUnauthorized: false, agent: false }, answer =>
      text(answer).then(resolve, () => resolve('')),
    ).on('error', () => resolve(''))
  })
