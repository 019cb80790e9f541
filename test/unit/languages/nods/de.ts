import { listed } from '../../../../shared/base/listed.ts';

export const german = {
  nods: listed(
    'ach wirklich|gut zu wissen|interessant|ach das ist schön|oh wow|das ist toll|das ist gut|das ist interessant|ach so ist das|ah okay|na dann|sehr schön|oh gut|oh toll|oh super|ach gut',
    'das ist gut zu wissen|das freut mich|freut mich|schön zu hören|das höre ich gern|das hört man gern|oh schön|schön|wunderbar|oh wunderbar|großartig|fantastisch|genial|spitze|klasse|ausgezeichnet|hervorragend',
    'klingt gut|klingt super|klingt toll|klingt perfekt|klingt vernünftig|das klingt gut|das klingt super|das passt|das passt mir|das ist in Ordnung|das ist okay|das ist perfekt|das ist prima|das ist ja toll|das ist ja super',
    'das ist ja interessant|das ist wahr|das ist richtig|das stimmt|das ist nett|das ist hilfreich|sehr hilfreich|sehr interessant|wirklich interessant|wie interessant|wie schön|wie nett|ach du meine Güte|oh Gott|ach je|oje',
    'echt|echt jetzt|ach echt|ist das so|ach ja|ach ja wirklich|nicht wahr|ach nee|na so was|sag bloß|was Sie nicht sagen|okay gut|okay super|okay prima|okay perfekt|okay alles klar|alles gut',
    'ja okay|ja genau|ja klar|ja sicher|ja natürlich|ja stimmt|ja gut|ja richtig|ja eben|ja sehr gut|genau richtig|ganz genau|völlig richtig|da haben Sie recht|Sie haben recht|stimmt auch wieder|guter Punkt|gute Idee',
    'das macht Sinn|macht Sinn|ergibt Sinn|das ergibt Sinn|leuchtet ein|das leuchtet ein|verstehe schon|ja verstehe|ich weiß|ja ich weiß|weiß ich|das wusste ich nicht|das dachte ich mir|dachte ich mir|hab ich mir gedacht|kann ich verstehen|das verstehe ich|jetzt verstehe ich|ich verstehe das|ich sehe schon|sehe ich auch so',
    'selbstverständlich|logisch|absolut|auf jeden Fall|definitiv|in der Tat|tatsächlich|ach tatsächlich|na klar|na bitte|na also|Gott sei Dank|zum Glück|da bin ich froh|bin ich froh|auch gut|nicht übel|gar nicht schlecht',
  ),
  interruptions: listed(
    'stopp|warten Sie|Moment|halt|nein|nein nein nein|nein danke|nicht das|Entschuldigung|wie bitte|was bitte|was war das|sagen Sie das noch mal|können Sie das wiederholen|bitte wiederholen|langsamer bitte|lauter bitte|ich höre Sie nicht|was meinen Sie|was ist das',
    'wer ist da|wie viel|wie viel kostet das|wie lange dauert das|wann ist das|wo ist das|welcher|warum nicht|warum das|um wie viel Uhr|am Freitag|am Montag bitte|um sieben|für vier Personen|lieber fünf|das blaue|das zweite|das billigere|lieber morgen|nächste Woche',
    'eigentlich nicht|ich habe es mir anders überlegt|stornieren Sie das|abbrechen|vergessen Sie es|das will ich nicht|das brauche ich nicht|das ist falsch|das stimmt nicht|das habe ich nicht gefragt|das ist nicht mein Name|ich heiße Anna|Müller mit Ü|nein Schmidt|ich meinte Dienstag|ich sagte fünfzehn',
    'kann ich etwas fragen|kann ich mit jemandem sprechen|ich will einen Menschen|verbinden Sie mich|ich habe eine Frage|eine Frage|kurze Frage|noch etwas|aber ich habe schon bezahlt|aber warten Sie|aber das ist zu spät|aber warum|ja aber nicht heute|okay aber was kostet das|ich brauche Hilfe|helfen Sie mir|ich will mein Geld zurück|ich möchte bezahlen',
    'ich möchte buchen|ich brauche eine Rechnung|schicken Sie es per Mail|rufen Sie mich zurück|gehen Sie zurück|überspringen|weiter bitte|noch mal von vorne|Ruhe|hören Sie zu|hallo|sind Sie noch da|haben Sie Parkplätze|ist Frühstück dabei|haben Sie jetzt offen|kostet das extra|und am Sonntag|wie wäre es um sechs|zu teuer|zu spät|zu früh',
    'zwei Karten|drei Nächte|mit Aussicht|ohne Zwiebeln|nach Berlin|vom Flughafen|mit Karte|in bar|mit meiner Frau|die andere Adresse|es ist kaputt|es geht nicht|ich habe es eilig|ich muss los|ich fahre gerade|ich war noch nicht fertig|lassen Sie mich ausreden',
  ),
};
