import { listed } from '../../../../shared/base/listed.ts';

export const dutch = {
  nods: listed(
    'oh echt|echt waar|goed om te weten|interessant|oh wat leuk|wauw|dat is geweldig|dat is goed|dat is interessant|oh zo|oh oké|oh op die manier|nou mooi|heel mooi|oh mooi|oh fijn|oh leuk|oh prima',
    'fijn om te weten|fijn om te horen|leuk om te horen|wat fijn|wat mooi|wat goed|wat een goed nieuws|goed nieuws|geweldig|fantastisch|uitstekend|schitterend|prachtig|heerlijk|te gek|helemaal top|helemaal goed|perfect',
    'klinkt goed|klinkt prima|klinkt perfect|klinkt logisch|dat klinkt goed|dat klinkt prima|lijkt me goed|lijkt me prima|lijkt me logisch|dat is prima|dat is mooi|dat is fijn|dat is duidelijk|dat is waar|dat is zo|dat komt goed uit',
    'heel handig|dat is handig|handig|heel interessant|echt interessant|wat interessant|wat aardig|heel aardig|o jee|oh jee|oh mijn god|hemeltje|nee toch|je meent het|u meent het|serieus|oh serieus|meent u dat',
    'ah ja|ah oké|ah zo zit dat|zo zit dat|oh vandaar|vandaar|ja precies|kijk eens aan|nou nou|oké mooi|oké prima|oké goed|oké top|oké perfect|oké duidelijk|alles goed|helemaal duidelijk',
    'ja inderdaad|ja natuurlijk|ja klopt|ja dat klopt|ja zeker|ja goed|ja prima|ja logisch|ja snap ik|ja begrijp ik|ja exact|precies ja|dat is juist|u heeft gelijk|daar heeft u gelijk in|je hebt gelijk|goed punt|goed idee|prima idee',
    'logisch|dat is logisch|begrijpelijk|dat begrijp ik|dat snap ik|nu snap ik het|nu begrijp ik het|ik snap wat u bedoelt|dat weet ik|ik weet het|ja ik weet het|dat wist ik niet|dat dacht ik al|ik dacht het al|daar ben ik het mee eens|mee eens|ik hoor het|ik zie het',
    'vanzelf|zonder meer|absoluut waar|eerlijk gezegd ja|gelukkig|gelukkig maar|goddank|wat een opluchting|hè hè|niet gek|helemaal niet slecht|lang niet slecht|geen enkel probleem|komt goed|nou graag|zo is het',
  ),
  interruptions: listed(
    'stop|wacht|wacht even|nee|nee nee nee|nee bedankt|niet die|pardon|sorry wat|wat zegt u|wat|wat was dat|kunt u dat herhalen|herhaal dat|langzamer graag|harder graag|ik hoor u niet|wat bedoelt u|wat is dat',
    'wie is dit|hoeveel|hoeveel kost dat|hoe lang duurt dat|wanneer is dat|waar is dat|welke|waarom niet dan|waarom|hoe laat|op vrijdag|maandag graag|om zeven uur|voor vier personen|liever vijf|de blauwe|de tweede|de goedkopere|liever morgen|volgende week',
    'eigenlijk niet|ik heb me bedacht|annuleer dat|annuleer mijn bestelling|vergeet het|laat maar zitten|dat wil ik niet|dat heb ik niet nodig|dat is fout|dat klopt niet|dat vroeg ik niet|dat is niet mijn naam|ik heet Anna|het is Jansen|nee De Vries|ik bedoelde dinsdag|ik zei vijftien',
    'mag ik iets vragen|kan ik iemand spreken|ik wil een mens|verbind me door|ik heb een vraag|een vraag|nog iets anders|maar ik heb al betaald|maar wacht|maar dat is te laat|maar waarom|ja maar niet vandaag|oké maar hoeveel|ik heb hulp nodig|help me|ik wil mijn geld terug|ik wil betalen',
    'ik wil boeken|ik heb een bon nodig|stuur het per mail|bel me terug|ga terug|sla dat over|volgende|begin opnieuw|wees stil|luister naar mij|hallo|bent u er nog|heeft u parkeerplaatsen|is ontbijt inbegrepen|bent u nu open|kost dat extra|en zondag|liever om zes uur|te duur|te laat|te vroeg',
    'twee kaartjes|drie nachten|met uitzicht|zonder ui|naar Amsterdam|vanaf het vliegveld|met de kaart|contant|met mijn vrouw|het andere adres|het is kapot|het werkt niet|ik heb haast|ik moet gaan|ik zit in de auto|ik was nog niet klaar|laat me uitpraten',
  ),
};
