/** JSON-RPC 2.0 without a socket: frames in, frames out, promises between. */

type Json = Record<string, unknown>;

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

const METHOD_NOT_FOUND = -32601;

/** The bridge answered with an error object; `message` is its sentence for the user. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export class RpcPeer {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  /** `send` puts one text frame on the wire; `notify` gets each notification. */
  constructor(
    private readonly send: (frame: string) => void,
    private readonly notify: (method: string, params: unknown) => void,
  ) {}

  /** Calls `method`; `accept` sees the result before any later frame is handled, and may throw to refuse it. */
  call<T>(method: string, params: object, accept: (result: T) => void = () => undefined): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      const settle = (result: unknown): void => {
        accept(result as T);
        resolve(result as T);
      };
      this.waiting.set(id, { resolve: settle, reject });
      this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Handles one text frame; throws what is wrong with it. */
  receive(frame: string): void {
    const message: unknown = JSON.parse(frame);
    if (!isObject(message) || message.jsonrpc !== "2.0") {
      throw new Error("The bridge sent a frame that is not JSON-RPC 2.0.");
    }
    if (typeof message.method === "string") {
      this.incoming(message.method, message);
    } else if (typeof message.id === "number") {
      this.answer(message.id, message);
    }
  }

  /** The socket is gone: every open call fails with `error`. */
  fail(error: Error): void {
    for (const call of this.waiting.values()) {
      call.reject(error);
    }
    this.waiting.clear();
  }

  private incoming(method: string, message: Json): void {
    if (message.id === undefined) {
      this.notify(method, message.params);
    } else {
      const error = { code: METHOD_NOT_FOUND, message: `This client does not offer ${method}.` };
      this.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
    }
  }

  private answer(id: number, message: Json): void {
    const call = this.waiting.get(id);
    this.waiting.delete(id);
    const error = message.error;
    if (isObject(error)) {
      call?.reject(new RpcError(Number(error.code), String(error.message)));
      return;
    }
    try {
      call?.resolve(message.result);
    } catch (refusal) {
      call?.reject(refusal instanceof Error ? refusal : new Error(String(refusal)));
      throw refusal;
    }
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
