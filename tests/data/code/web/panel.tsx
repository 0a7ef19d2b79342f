import React from "react";

/** Show how many people wait, and how long the first of them has. */
export const QueuePanel = ({ waiting, seconds }: { waiting: number; seconds: number }) => {
  return <section>{waiting} waiting, {formatDuration(seconds)}</section>;
};

/** Write seconds as minutes and seconds. */
export function formatDuration(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
