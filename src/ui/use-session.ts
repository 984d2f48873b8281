import { useSyncExternalStore } from "react";
import type { View } from "./view/chat-view.ts";
import type { Layout } from "./view/layout.ts";

/** The live region as it should be now: drawn again when the view changes. */
export const useSession = (view: View): Layout => useSyncExternalStore(view.subscribe, view.layout);
